import { withDeadline } from '../../connection.js';
import { CellportError } from '../../errors.js';
import { distance } from '../../geo/distance.js';
import type { SearchHit, SearchQuery } from '../engine.js';
import { compareOrders, type HitOrder } from '../hit-order.js';
import { closeness, ENOUGH, relevance, TYPO } from '../score.js';
import type { Stored } from '../stored.js';
import { editsBetween } from '../typos.js';
import type { Client } from './client.js';
import { matching, orderOfHit, pageRequest, typoRequest, type Clause } from './query.js';

interface Found {
  readonly order: HitOrder;
  readonly source: Stored;
}

interface Answer {
  readonly hits: {
    readonly total?: { readonly value: number };
    readonly hits: readonly { readonly _source?: Stored; readonly sort?: readonly unknown[] }[];
  };
}

/** Timeout of a search: a cluster that does not respond must not block requests. */
const ANSWERS_WITHIN_MS = 10_000;

/**
 * Searches the documents behind an alias for one call. Its methods throw UNAVAILABLE while the cluster does not answer, and
 * the reason of `signal` once it is aborted.
 */
export class IndexReader {
  readonly #client: Client;
  readonly #alias: string;
  readonly #signal: AbortSignal | undefined;

  constructor(client: Client, alias: string, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#alias = alias;
    this.#signal = signal;
  }

  #ask(body: Clause): Promise<Answer['hits']> {
    const request = { index: this.#alias, body: { track_total_hits: ENOUGH, ...body } };
    const failure = (cause?: unknown) =>
      new CellportError('UNAVAILABLE', 'the search index does not respond; retry later', {}, { cause });
    // Not aborted: a request of this client that is, ends the process with an error that nothing can catch.
    return withDeadline({ ms: ANSWERS_WITHIN_MS, late: () => failure(), signal: this.#signal, failure }, async () => {
      const answer = await this.#client.search(request as never, { requestTimeout: ANSWERS_WITHIN_MS });
      return (answer.body as unknown as Answer).hits;
    });
  }

  /** See `SearchEngine.search`. */
  async search(query: SearchQuery, after: HitOrder | undefined, limit: number): Promise<SearchHit[]> {
    const isPastExact = (after?.[0] ?? 0) >= TYPO;
    const { hits, total } = await this.#ask(
      isPastExact ? { query: matching(query), size: 0 } : pageRequest(query, after, limit),
    );
    const found = hits.flatMap(({ _source: source, sort = [] }): Found[] =>
      source ? [{ order: orderOfHit(sort, query), source }] : [],
    );
    const isEnough = (total?.value ?? 0) >= ENOUGH && query.typos !== true;
    if (found.length < limit && query.words.length > 0 && !isEnough)
      found.push(...(await this.#typos(query, after)).slice(0, limit - found.length));
    return found.map(({ order, source: { pk, sk, incarnation = '' } }) => ({
      key: { pk, sk },
      incarnation,
      score: query.near ? closeness(order[0], order[1]) : relevance(order[0], order[1]),
      position: JSON.stringify(order),
    }));
  }

  /** See `SearchEngine.count`. */
  async count(query: SearchQuery): Promise<number> {
    const { total } = await this.#ask({ query: matching(query), size: 0, track_total_hits: true });
    const exact = total?.value ?? 0;
    const isEnough = exact >= ENOUGH && query.typos !== true;
    return isEnough || query.words.length === 0 ? exact : exact + (await this.#typos(query, undefined)).length;
  }

  /** Documents whose names differ by a few letters, without those that match the words as typed. */
  async #typos(query: SearchQuery, after: HitOrder | undefined): Promise<Found[]> {
    const typed = query.words.join(' ');
    const request = typoRequest(query);
    if (request === undefined) return [];
    const { hits } = await this.#ask(request);
    return hits
      .flatMap(({ _source: source }): Found[] => {
        const edits = editsBetween(typed, source?.folded ?? '');
        if (source === undefined || edits === Infinity) return [];
        const { id, rank = 0 } = source;
        return [{ order: [TYPO, query.near ? metersTo(source, query) : edits, rank, id], source }];
      })
      .toSorted((a, b) => compareOrders(a.order, b.order))
      .filter(({ order }) => after === undefined || compareOrders(order, after) > 0);
  }
}

function metersTo({ location }: Stored, { near }: SearchQuery): number {
  return near && location ? distance(near, { lng: location.lon, lat: location.lat }) : Infinity;
}
