import { withDeadline } from '../../connection.js';
import { CellportError } from '../../errors.js';
import type { Area, Bounds, Point } from '../../geo/bounds.js';
import { distance } from '../../geo/distance.js';
import type { SearchHit, SearchQuery } from '../engine.js';
import { compareOrders, type HitOrder } from '../hit-order.js';
import { CANDIDATES, closeness, ENOUGH, LONGEST_FOLDED, relevance, TYPO } from '../score.js';
import type { Stored } from '../stored.js';
import { editsAllowed, editsBetween, trigramsOf } from '../typos.js';
import type { Client } from './client.js';

/** A part of a request in OpenSearch's query language. */
type Clause = Readonly<Record<string, unknown>>;

/**
 * The amount that a tier adds to the score by which OpenSearch sorts; documents with the same name also match in the
 * name.
 */
const POINTS = { 'in the name': 2, 'same name': 4 };
const tierOf = (points: number) => (points >= 6 ? 0 : points >= 2 ? 1 : 2);
const POINTS_OF_TIER = [6, 2, 0];

/** Documents with all the words in a field; the last word may be incomplete. */
const hasWords = (field: 'name' | 'text', words: readonly string[]): Clause[] =>
  words.map((value, index) => ({ [index === words.length - 1 ? 'prefix' : 'term']: { [field]: { value } } }));

const constant = (filter: Clause | readonly Clause[], boost: number): Clause => ({
  constant_score: { filter: Array.isArray(filter) ? { bool: { filter } } : filter, boost },
});

/** Documents whose box intersects a rectangle. */
function meets({ west, south, east, north }: Bounds): Clause {
  const lng = { range: { lng: { gte: west, lte: east, relation: 'intersects' } } };
  return { bool: { filter: [lng, { range: { lat: { gte: south, lte: north, relation: 'intersects' } } }] } };
}

const inArea = ({ parts }: Area): Clause => ({ bool: { should: parts.map(meets), minimum_should_match: 1 } });

/** The conditions of a query apart from its words. */
const conditions = ({ scopes, area }: SearchQuery): Clause[] => [
  ...(scopes ? [{ terms: { scope: scopes } }] : []),
  ...(area ? [inArea(area)] : []),
];

/** Documents with all the words as typed. */
function matching(query: SearchQuery): Clause {
  return { bool: { filter: [...hasWords('text', query.words), ...conditions(query)] } };
}

const byRank: Clause[] = [{ rank: 'desc' }, { id: 'asc' }];

function byDistance({ lng, lat }: Point): Clause {
  return { _geo_distance: { location: { lon: lng, lat }, unit: 'm', distance_type: 'arc', order: 'asc' } };
}

/** A page of documents with all the words, in order, after a position. */
function pageRequest(query: SearchQuery, after: HitOrder | undefined, size: number): Clause {
  const { words, near } = query;
  const typed = words.join(' ');
  const sameName = typed.length > LONGEST_FOLDED ? [] : [constant({ term: { folded: typed } }, POINTS['same name'])];
  const tiers =
    near || words.length === 0 ? [] : [constant(hasWords('name', words), POINTS['in the name']), ...sameName];
  const [tier, by, rank, id] = after ?? [];
  const first = near ? (by === Infinity ? 'Infinity' : by) : POINTS_OF_TIER[tier ?? 0];
  return {
    query: { bool: { filter: [matching(query)], should: tiers, minimum_should_match: 0 } },
    sort: [near ? byDistance(near) : { _score: 'desc' }, ...byRank],
    size,
    ...(after ? { search_after: [first, rank, id] } : {}),
    _source: ['pk', 'sk', 'incarnation'],
  };
}

/** The position of a hit, from the values by which it was sorted. */
function orderOfHit([first, rank, id]: readonly unknown[], { near }: SearchQuery): HitOrder {
  return near ? [0, Number(first), Number(rank), String(id)] : [tierOf(Number(first)), 0, Number(rank), String(id)];
}

/**
 * The documents that share the most groups of three letters with the text, without those that match its words as typed;
 * undefined for texts that are too short.
 */
function typoRequest(query: SearchQuery): Clause | undefined {
  const typed = query.words.join(' ');
  const trigrams = trigramsOf(typed);
  if (editsAllowed(typed.length) === 0 || trigrams.length === 0) return undefined;
  const should = trigrams.map((trigram) => constant({ term: { trigrams: trigram } }, 1));
  return {
    query: {
      bool: { filter: conditions(query), must_not: matching(query), should, minimum_should_match: 1 },
    },
    sort: [{ _score: 'desc' }, ...byRank],
    size: CANDIDATES,
    _source: ['pk', 'sk', 'incarnation', 'id', 'folded', 'rank', 'location'],
  };
}

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

/** Asks OpenSearch for the documents that a request finds. */
export type Ask = (body: Clause) => Promise<Answer['hits']>;

/**
 * Asks for documents behind an alias. Throws UNAVAILABLE while the cluster does not answer, and the reason of `signal` once
 * it is aborted.
 */
export function asking(client: Client, alias: string, signal: AbortSignal | undefined): Ask {
  const failure = (cause?: unknown) =>
    new CellportError('UNAVAILABLE', 'the search index does not respond; retry later', {}, { cause });
  return (body) => {
    const request = { index: alias, body: { track_total_hits: ENOUGH, ...body } };
    // Not aborted: a request of this client that is, ends the process with an error that nothing can catch.
    return withDeadline({ ms: ANSWERS_WITHIN_MS, late: () => failure(), signal, failure }, async () => {
      const answer = await client.search(request as never, { requestTimeout: ANSWERS_WITHIN_MS });
      return (answer.body as unknown as Answer).hits;
    });
  };
}

/** See `SearchEngine.search`. */
export async function search(ask: Ask, query: SearchQuery, after: HitOrder | undefined, limit: number) {
  const isPastExact = (after?.[0] ?? 0) >= TYPO;
  const { hits, total } = await ask(
    isPastExact ? { query: matching(query), size: 0 } : pageRequest(query, after, limit),
  );
  const found = hits.flatMap(({ _source: source, sort = [] }): Found[] =>
    source ? [{ order: orderOfHit(sort, query), source }] : [],
  );
  const isEnough = (total?.value ?? 0) >= ENOUGH && query.typos !== true;
  if (found.length < limit && query.words.length > 0 && !isEnough)
    found.push(...(await typos(ask, query, after)).slice(0, limit - found.length));
  return found.map(({ order, source: { pk, sk, incarnation = '' } }): SearchHit => ({
    key: { pk, sk },
    incarnation,
    score: query.near ? closeness(order[0], order[1]) : relevance(order[0], order[1]),
    position: JSON.stringify(order),
  }));
}

/** See `SearchEngine.count`. */
export async function count(ask: Ask, query: SearchQuery): Promise<number> {
  const { total } = await ask({ query: matching(query), size: 0, track_total_hits: true });
  const exact = total?.value ?? 0;
  const isEnough = exact >= ENOUGH && query.typos !== true;
  return isEnough || query.words.length === 0 ? exact : exact + (await typos(ask, query, undefined)).length;
}

/** Documents whose names differ by a few letters, without those that match the words as typed. */
async function typos(ask: Ask, query: SearchQuery, after: HitOrder | undefined): Promise<Found[]> {
  const request = typoRequest(query);
  if (request === undefined) return [];
  const typed = query.words.join(' ');
  const { hits } = await ask(request);
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

function metersTo({ location }: Stored, { near }: SearchQuery): number {
  return near && location ? distance(near, { lng: location.lon, lat: location.lat }) : Infinity;
}
