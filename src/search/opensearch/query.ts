import type { Area, Bounds } from '../../geo/bounds.js';
import type { Point } from '../../geo/point.js';
import type { SearchQuery } from '../engine.js';
import type { HitOrder } from '../hit-order.js';
import { CANDIDATES, LONGEST_FOLDED } from '../score.js';
import { editsAllowed, trigramsOf } from '../typos.js';

/** A part of a request in OpenSearch's query language. */
export type Clause = Readonly<Record<string, unknown>>;

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
export function matching(query: SearchQuery): Clause {
  return { bool: { filter: [...hasWords('text', query.words), ...conditions(query)] } };
}

const byRank: Clause[] = [{ rank: 'desc' }, { id: 'asc' }];

function byDistance({ lng, lat }: Point): Clause {
  return { _geo_distance: { location: { lon: lng, lat }, unit: 'm', distance_type: 'arc', order: 'asc' } };
}

/** A page of documents with all the words, in order, after a position. */
export function pageRequest(query: SearchQuery, after: HitOrder | undefined, size: number): Clause {
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
export function orderOfHit([first, rank, id]: readonly unknown[], { near }: SearchQuery): HitOrder {
  return near ? [0, Number(first), Number(rank), String(id)] : [tierOf(Number(first)), 0, Number(rank), String(id)];
}

/**
 * The documents that share the most groups of three letters with the text, without those that match its words as typed;
 * undefined for texts that are too short.
 */
export function typoRequest(query: SearchQuery): Clause | undefined {
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
