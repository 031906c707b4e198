import { badInput } from '../errors.js';
import { areaContains, normalizeBounds, type Bounds } from '../geo/bounds.js';
import { readPoint, type Point } from '../geo/point.js';
import type { NodeId } from '../keys/ids.js';
import type { Collection } from '../model/collection.js';
import type { Marker } from '../model/marker.js';
import type { Zone } from '../model/zone.js';
import type { MapContext } from '../read/context.js';
import type { SearchHit, SearchQuery, SearchReader } from '../search/engine.js';
import { wordsOf } from '../search/words.js';
import { connectionOf, readArguments, type Connection, type ConnectionArguments } from './connection.js';

/** A client's search. */
export interface TextSearchInput extends ConnectionArguments {
  readonly text: string;
  /** Undefined to search all. */
  readonly collections: readonly Collection[] | undefined;
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
  /** Counts all hits in the index. */
  readonly count: () => Promise<number>;
}

const LONGEST_TEXT = 256;
/** Hits that are read together: thousands would take long to ask for at once. */
const READ_AT_ONCE = 500;
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

/**
 * A connection of search results, best first. Every node is read from the table: nodes that no longer exist or have
 * left the bounds are omitted and the connection refilled. Throws BAD_USER_INPUT naming the invalid argument.
 */
export async function searchText(
  context: MapContext,
  engine: SearchReader,
  { text, collections, bounds, near, ...input }: TextSearchInput,
  signal: AbortSignal,
): Promise<SearchConnection> {
  const query: SearchQuery = {
    words: readWords(text, bounds !== undefined && bounds !== null),
    scopes: collections?.map((collection) => context.keys.scope(collection)),
    area: bounds ? normalizeBounds('bounds', bounds) : undefined,
    near: near ? readPoint('near', near.lng, near.lat) : undefined,
  };
  const list = ['search', query.words, query.scopes ?? null, query.area?.bounds ?? null, query.near ?? null];
  const request = readArguments(context.limits, list, input, (position) => engine.isPosition(position));
  let { after } = request;
  const edges: FoundEdge[] = [];
  for (let refills = 0; edges.length < request.wanted && refills <= MOST_REFILLS; refills++) {
    const limit = request.wanted - edges.length;
    await context.turn();
    const hits = await engine.search(query, { after, limit }, signal);
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
  return { ...connectionOf(request, edges, after), count: () => engine.count(query, signal) };
}

/** The node of a hit as of its last write; null if it no longer exists or has left the search's bounds. */
async function foundNode(context: MapContext, { key }: SearchHit, { area }: SearchQuery): Promise<Found | null> {
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
  return area && node && 'position' in node && !areaContains(area, node.position) ? null : node;
}
