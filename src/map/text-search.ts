import { badInput, CellportError, limitExceeded } from '../errors.js';
import { areaContains, normalizeBounds, readPoint, type Bounds, type Point } from '../geo/bounds.js';
import type { NodeId } from '../keys/ids.js';
import type { Collection } from '../model/collection.js';
import { isPartial, shownProperties } from '../model/grant.js';
import type { Marker, Zone } from '../model/marker.js';
import type { MapContext } from '../read/context.js';
import { Cursors } from '../read/cursor.js';
import { hasWords, textBesides } from '../search/document.js';
import type { Searcher, SearchHit, SearchQuery } from '../search/engine.js';
import { isTypo } from '../search/score.js';
import { wordsOf } from '../search/words.js';
import { connectionOf, readArguments, type Connection, type ConnectionArguments } from './connection.js';

/** A client's search. */
export interface TextSearchInput extends ConnectionArguments {
  readonly text: string;
  /** Undefined to search all that may be read. */
  readonly collections: readonly Collection[] | undefined;
  /** Those that may be read; undefined for all, whole. */
  readonly readable?: readonly Collection[] | undefined;
  readonly bounds?: Bounds | null | undefined;
  readonly near?: Point | null | undefined;
}

/** A search result. */
export type Found = Collection | Marker | Zone;

export interface FoundEdge {
  readonly cursor: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly node: Found;
}

export interface SearchConnection extends Connection<FoundEdge> {
  /** Counts all hits in the index; of collections that are seen in part, those that are seen. Throws LIMIT_EXCEEDED. */
  readonly count: () => Promise<number>;
}

const LONGEST_TEXT = 256;
/** Hits that are read together: thousands would take long to ask for at once. */
const READ_AT_ONCE = 500;
/** Hits that are checked together at least, if some of them may not be shown. */
const LEAST_CHECKED = 100;
/**
 * How often a connection is refilled to replace hits that no longer exist; after that it may be short, and continues
 * with its cursor.
 */
const MOST_REFILLS = 8;

/** The words of a text. Throws BAD_USER_INPUT if it is too long, or empty in an unbounded search. */
function readWords(text: string, isBounded: boolean): string[] {
  if (text.length > LONGEST_TEXT) throw badInput('text', text, `at most ${LONGEST_TEXT} characters`);
  const words = wordsOf(text);
  if (words.length > 0 || (isBounded && text.trim() === '')) return words;
  throw badInput('text', text, 'at least one letter or digit; it may be empty only with bounds');
}

/** Throws UNAVAILABLE if one of the collections follows a table whose markers are not in the index yet. */
export function requireIndexed(
  { keys }: Pick<MapContext, 'keys'>,
  collections: readonly Collection[] | undefined,
  hasRead: (scope: string) => boolean,
): void {
  const missing = collections?.find(({ source, ...one }) => source && !hasRead(keys.scope(one)));
  if (missing === undefined) return;
  const message = `the markers of collection ${missing.key} are not in the search index yet; try again later`;
  throw new CellportError('UNAVAILABLE', message, { collection: missing.key });
}

/**
 * A connection of search results, best first. Every node is read from the table: nodes that no longer exist or have
 * left the bounds are omitted and the connection refilled. Throws BAD_USER_INPUT naming the invalid argument.
 */
export async function searchText(
  context: MapContext,
  engine: Searcher,
  { text, collections, readable, bounds, near, ...input }: TextSearchInput,
  signal: AbortSignal,
): Promise<SearchConnection> {
  const scopesOf = (some: readonly Collection[]) => some.map((collection) => context.keys.scope(collection));
  const searched = collections ?? readable;
  const partial = searched?.filter(isPartial) ?? [];
  const query: SearchQuery = {
    words: readWords(text, bounds !== undefined && bounds !== null),
    scopes: searched && scopesOf(searched),
    // Whether few documents match must not depend on those that are not seen.
    typos: partial.length > 0,
    area: bounds ? normalizeBounds('bounds', bounds) : undefined,
    near: near ? readPoint('near', near.lng, near.lat) : undefined,
  };
  const list = [
    'search',
    query.words,
    collections ? scopesOf(collections) : null,
    query.area?.bounds ?? null,
    query.near ?? null,
  ];
  const isUnranked = partial.some(({ rankBy, grant }) => rankBy !== null && grant?.hidden.has(rankBy));
  const request = readArguments(
    context.limits,
    new Cursors(list, partial[0]?.grant),
    input,
    (position) => isUnranked || engine.isPosition(position),
  );
  let { after } = request;
  const edges: FoundEdge[] = [];
  for (let refills = 0; edges.length < request.wanted && refills <= MOST_REFILLS; refills++) {
    const limit = Math.max(request.wanted - edges.length, partial.length > 0 ? LEAST_CHECKED : 0);
    await context.turn();
    const hits = isUnranked
      ? unranked(await allHits(context, engine, query, 'search', signal), after).slice(0, limit)
      : await engine.search(query, { after, limit }, signal);
    for (let from = 0; from < hits.length; from += READ_AT_ONCE) {
      const some = hits.slice(from, from + READ_AT_ONCE);
      await context.turn();
      const nodes = await Promise.all(some.map((hit) => foundNode(context, hit, query)));
      // Searches that wait for the same nodes resume at once.
      await context.turn();
      for (const [index, { position, score }] of some.entries()) {
        const node = nodes[index];
        if (node) edges.push({ cursor: request.cursors.write(position), score, node });
      }
    }
    const last = hits.length < limit ? undefined : hits.at(-1);
    after = last?.position;
    if (last === undefined) break;
  }
  async function count(): Promise<number> {
    if (partial.length === 0) return engine.count(query, signal);
    const whole = scopesOf(searched?.filter((one) => !isPartial(one)) ?? []);
    const own = { ...query, scopes: scopesOf(partial) };
    const counts = [engine.count({ ...query, scopes: whole }, signal), countSeen(context, engine, own, signal)];
    return (await Promise.all(counts)).reduce((sum, some) => sum + some, 0);
  }
  return { ...connectionOf(request, edges, after), count };
}

/** All hits, to be checked. Throws LIMIT_EXCEEDED naming `field` if they are more than a page may have. */
async function allHits(
  { limits: { maxFirst } }: MapContext,
  engine: Searcher,
  query: SearchQuery,
  field: string,
  signal: AbortSignal,
): Promise<readonly SearchHit[]> {
  const hits = await engine.search(query, { after: undefined, limit: maxFirst + 1 }, signal);
  if (hits.length <= maxFirst) return hits;
  const advice = 'search for more words, or in bounds';
  throw limitExceeded(field, `that of more than ${maxFirst} hits to check`, maxFirst, advice);
}

/** The hits after a position, of equally good ones by key: their rank would tell of a property that the principal does not see. */
function unranked(hits: readonly SearchHit[], after: string | undefined): readonly SearchHit[] {
  // Scores are from 0 to 1.
  const position = ({ score, key: { pk, sk } }: SearchHit) => JSON.stringify([(1 - score).toFixed(9), pk, sk]);
  return hits
    .map((hit) => ({ ...hit, position: position(hit) }))
    .filter((hit) => after === undefined || hit.position > after)
    .sort((a, b) => (a.position < b.position ? -1 : 1));
}

/** The number of hits that the principal sees. Throws LIMIT_EXCEEDED. */
async function countSeen(
  context: MapContext,
  engine: Searcher,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<number> {
  const hits = await allHits(context, engine, query, 'totalCount', signal);
  let count = 0;
  for (let from = 0; from < hits.length; from += READ_AT_ONCE) {
    await context.turn();
    const nodes = await Promise.all(hits.slice(from, from + READ_AT_ONCE).map((hit) => foundNode(context, hit, query)));
    count += nodes.filter((node) => node !== null).length;
  }
  return count;
}

/**
 * The node of a hit as of its last write; null if it no longer exists, has left the search's bounds, or if the principal
 * does not see it, or not what it matches by.
 */
async function foundNode(context: MapContext, hit: SearchHit, { words, area }: SearchQuery): Promise<Found | null> {
  const { key, score } = hit;
  const { keys, loaders } = context;
  const collection = keys.parseCollection(key);
  const marker = keys.parseMarker(key);
  const entity = marker ?? keys.parseZone(key);
  let name: NodeId | undefined = collection === undefined ? undefined : { type: 'collection', key: collection };
  if (entity) {
    const owner = await loaders.collections.ofScope(entity.scope);
    if (owner !== undefined) name = { type: marker ? 'marker' : 'zone', collection: owner, key: entity.key };
  }
  const node = name ? await loaders.entities.node(name) : null;
  if (area && node && 'position' in node && !areaContains(area, node.position)) return null;
  if (!node || !('properties' in node)) return node;
  const { grant } = (await loaders.collections.get(node.collection)) ?? {};
  if (grant === undefined || grant.hidden.size === 0 || words.length === 0) return node;
  const text = `${node.name ?? ''}\n${textBesides(node, shownProperties(grant, node.properties))}`;
  // Which names with typos are found depends on what is hidden, too: those that match as typed are not among them.
  return !isTypo(score) && hasWords(words, text) ? node : null;
}
