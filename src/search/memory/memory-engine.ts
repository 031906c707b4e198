import { distance } from '../../geo/distance.js';
import { eachInTurns, takeTurn } from '../../turns.js';
import { type SearchEngine, type SearchHit, type SearchQuery, IndexFull } from '../engine.js';
import { type HitOrder, compareOrders, parseOrder } from '../hit-order.js';
import { ENOUGH, LONGEST_FOLDED, TYPO, closeness, relevance } from '../score.js';
import { GONE_KEPT_MS, PURGE_EVERY_MS, type Stored, afterChanges, idOf } from '../stored.js';
import { editsBetween } from '../typos.js';

/** Each takes 1.3 KB, and a microsecond of every search. */
const MOST_DOCUMENTS = 150_000;
const NONE: readonly string[] = [];
const SORTED_AT_ONCE = 5_000;

interface Found {
  readonly order: HitOrder;
  readonly document: Stored;
}

const sorted = (found: readonly Found[]) => found.toSorted((a, b) => compareOrders(a.order, b.order));

/** A document as stored here: its words have a space on both sides, so that they are found as parts of one text. */
function kept(document: Stored): Stored {
  const { text = '', name = '' } = document;
  return { ...document, text: ` ${text} `, name: ` ${name} `, trigrams: NONE };
}

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
  readonly #most: number;
  #checkpoint: string | undefined;
  #purgedAt = -Infinity;

  constructor(now: () => number, most: number) {
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
    if (this.#documents.size + added > this.#most)
      throw new IndexFull(
        `the search index in memory holds at most ${this.#most.toLocaleString('en')} documents; OpenSearch holds more`,
      );
    for (const [id, document] of next) this.#documents.set(id, document);
    this.#checkpoint = checkpoint;
    if (now - this.#purgedAt < PURGE_EVERY_MS) return;
    this.#purgedAt = now;
    for (const [id, { deletedAt = Infinity }] of this.#documents)
      if (deletedAt < now - GONE_KEPT_MS) this.#documents.delete(id);
  }

  clear(): void {
    this.#documents.clear();
    this.#checkpoint = undefined;
  }

  /** What a query finds: the first `limit` after a position, in its order, and the number of all. */
  async find(query: SearchQuery, after: HitOrder | undefined, limit: number, signal?: AbortSignal) {
    const { words, near } = query;
    const turn = () => takeTurn(signal);
    let found: Found[] = [];
    let total = 0;
    const add = (one: Found) => {
      total += 1;
      if (after === undefined || compareOrders(one.order, after) > 0) found.push(one);
      // All of them at once could take long to sort.
      if (found.length > limit + SORTED_AT_ONCE) found = sorted(found).slice(0, limit);
    };
    const typed = words.join(' ');
    const patterns = patternsOf(words);
    const others: Stored[] = [];
    await eachInTurns([...this.#documents.values()], turn, (document) => {
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
      add({ order, document });
    });
    // Those whose names are a few letters away.
    await eachInTurns(total < ENOUGH && words.length > 0 ? others : [], turn, (document) => {
      const edits = editsBetween(typed, document.folded ?? '');
      if (edits === Infinity) return;
      const { rank = 0, id } = document;
      add({ order: [TYPO, near ? metersTo(document, near) : edits, rank, id], document });
    });
    return { first: sorted(found).slice(0, limit), total };
  }
}

/** An index in memory, for platforms on which SQLite does not run. */
export function openMemoryEngine(now: () => number, most = MOST_DOCUMENTS): SearchEngine {
  const index = new MemoryIndex(now, most);
  return {
    write: (changes, checkpoint) => index.write(changes, checkpoint),
    checkpoint: () => Promise.resolve(index.checkpoint),
    clear: () => Promise.resolve(index.clear()),
    async search(query, { after, limit }, signal) {
      const order = after === undefined ? undefined : parseOrder(after);
      const { first } = await index.find(query, order, limit, signal);
      return first.map(({ order: [tier, by], order: at, document: { pk, sk } }): SearchHit => ({
        key: { pk, sk },
        score: query.near ? closeness(tier, by) : relevance(tier, by),
        position: JSON.stringify(at),
      }));
    },
    count: async (query, signal) => (await index.find(query, undefined, 0, signal)).total,
    isPosition: (text) => parseOrder(text) !== undefined,
    close: () => Promise.resolve(),
  };
}
