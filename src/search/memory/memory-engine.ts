import { distance } from '../../geo/distance.js';
import { bytesOfValue } from '../../model/memory.js';
import { eachInTurns, takeTurn } from '../../turns.js';
import { type SearchEngine, type SearchHit, type SearchQuery, IndexFull } from '../engine.js';
import { type HitOrder, compareOrders, parseOrder } from '../hit-order.js';
import { ENOUGH, LONGEST_FOLDED, TYPO, closeness, relevance } from '../score.js';
import { GONE_KEPT_MS, PURGE_EVERY_MS, type Stored, afterChanges, idOf } from '../stored.js';
import { editsBetween } from '../typos.js';

/** Each takes a microsecond of every search, and usually 1.3 KB. */
const MOST: MemoryLimits = { documents: 150_000, bytes: 200 * 1024 * 1024 };
const NONE: readonly string[] = [];

export interface MemoryLimits {
  readonly documents: number;
  readonly bytes: number;
}

interface Found {
  readonly order: HitOrder;
  readonly document: Stored;
}

/** A document as stored here: its words have a space on both sides, so that they are found as parts of one text. */
function kept(document: Stored): Stored {
  const { text = '', name = '' } = document;
  return { ...document, text: ` ${text} `, name: ` ${name} `, trigrams: NONE };
}

const bytesOf = (document: Stored | undefined) => (document === undefined ? 0 : bytesOfValue(document));

/** The words of a query as they occur in a stored text; the last one may be the beginning of a word. */
const patternsOf = (words: readonly string[]) =>
  words.map((word, index) => (index === words.length - 1 ? ` ${word}` : ` ${word} `));

function isInArea({ lng, lat }: Stored, { parts }: NonNullable<SearchQuery['area']>): boolean {
  return parts.some(
    ({ west, south, east, north }) =>
      lng?.some(({ gte, lte }) => gte <= east && lte >= west) === true &&
      lat !== undefined &&
      lat.gte <= north &&
      lat.lte >= south,
  );
}

/** Whether a document meets the conditions of a query apart from its words. */
function passes(document: Stored, { scopes, area }: SearchQuery): boolean {
  if (document.deletedAt !== undefined) return false;
  if (scopes && !scopes.includes(document.scope ?? '')) return false;
  return area === undefined || isInArea(document, area);
}

const metersTo = ({ location }: Stored, near: NonNullable<SearchQuery['near']>) =>
  location ? distance(near, { lng: location.lon, lat: location.lat }) : Infinity;

/** An index in the memory of this process, without an index proper: a search reads all documents. */
class MemoryIndex {
  readonly #documents = new Map<string, Stored>();
  readonly #now: () => number;
  readonly #most: MemoryLimits;
  #bytes = 0;
  #checkpoint: string | undefined;
  #purgedAt = -Infinity;

  constructor(now: () => number, most: MemoryLimits) {
    this.#now = now;
    this.#most = most;
  }

  get checkpoint(): string | undefined {
    return this.#checkpoint;
  }

  /** See `SearchEngine.write`. */
  async write(changes: Parameters<SearchEngine['write']>[0], checkpoint: string): Promise<void> {
    const now = this.#now();
    const next = new Map<string, Stored>();
    for (const change of changes) {
      const id = idOf(change.type === 'put' ? change.document.key : change.key);
      const known = next.get(id) ?? this.#documents.get(id);
      const after = afterChanges(known, [change], now);
      if (after !== undefined && after !== known) next.set(id, kept(after));
      await takeTurn();
    }
    const added = [...next.keys()].filter((id) => !this.#documents.has(id)).length;
    const grown = [...next].reduce(
      (bytes, [id, document]) => bytes + bytesOf(document) - bytesOf(this.#documents.get(id)),
      this.#bytes,
    );
    const { documents, bytes } = this.#most;
    if (this.#documents.size + added > documents || grown > bytes)
      throw new IndexFull(
        `the search index in memory holds at most ${documents.toLocaleString('en')} documents of ${Math.round(bytes / 1024 / 1024)} MB; OpenSearch holds more`,
      );
    for (const [id, document] of next) this.#documents.set(id, document);
    this.#bytes = grown;
    this.#checkpoint = checkpoint;
    if (now - this.#purgedAt < PURGE_EVERY_MS) return;
    this.#purgedAt = now;
    for (const [id, document] of this.#documents) {
      if ((document.deletedAt ?? Infinity) >= now - GONE_KEPT_MS) continue;
      this.#documents.delete(id);
      this.#bytes -= bytesOf(document);
    }
  }

  clear(): void {
    this.#documents.clear();
    this.#bytes = 0;
    this.#checkpoint = undefined;
  }

  /** All that a query finds, in its order. */
  async find(query: SearchQuery): Promise<Found[]> {
    const { words, near } = query;
    const typed = words.join(' ');
    const patterns = patternsOf(words);
    const exact: Found[] = [];
    const others: Stored[] = [];
    await eachInTurns([...this.#documents.values()], takeTurn, (document) => {
      if (!passes(document, query)) return;
      const { text = '', name = '', folded, rank = 0, id } = document;
      if (!patterns.every((pattern) => text.includes(pattern))) {
        others.push(document);
        return;
      }
      const inName = words.length > 0 && patterns.every((pattern) => name.includes(pattern));
      const isSame = inName && folded === typed && typed.length <= LONGEST_FOLDED;
      const order: HitOrder = near
        ? [0, metersTo(document, near), rank, id]
        : [isSame ? 0 : inName ? 1 : 2, 0, rank, id];
      exact.push({ order, document });
    });
    const found = exact.length < ENOUGH && words.length > 0 ? [...exact, ...(await this.#typos(query, others))] : exact;
    return found.sort((a, b) => compareOrders(a.order, b.order));
  }

  /** Those whose names are a few letters away. */
  async #typos({ words, near }: SearchQuery, others: readonly Stored[]): Promise<Found[]> {
    const typed = words.join(' ');
    const found: Found[] = [];
    await eachInTurns(others, takeTurn, (document) => {
      const edits = editsBetween(typed, document.folded ?? '');
      if (edits === Infinity) return;
      const { rank = 0, id } = document;
      found.push({ order: [TYPO, near ? metersTo(document, near) : edits, rank, id], document });
    });
    return found;
  }
}

/** An index in memory, for platforms on which SQLite does not run. */
export function openMemoryEngine(now: () => number, most = MOST): SearchEngine {
  const index = new MemoryIndex(now, most);
  return {
    write: (changes, checkpoint) => index.write(changes, checkpoint),
    checkpoint: () => Promise.resolve(index.checkpoint),
    clear: () => Promise.resolve(index.clear()),
    async search(query, { after, limit }) {
      const order = after === undefined ? undefined : parseOrder(after);
      const found = await index.find(query);
      const rest = order ? found.filter((one) => compareOrders(one.order, order) > 0) : found;
      return rest.slice(0, limit).map(({ order: [tier, by], order: at, document: { pk, sk } }): SearchHit => ({
        key: { pk, sk },
        score: query.near ? closeness(tier, by) : relevance(tier, by),
        position: JSON.stringify(at),
      }));
    },
    count: async (query) => (await index.find(query)).length,
    isPosition: (text) => parseOrder(text) !== undefined,
    close: () => Promise.resolve(),
  };
}
