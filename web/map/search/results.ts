import { LngLat, type Map as MapLibre } from 'maplibre-gl';

import { boundsOf } from '../../../src/client/maplibre.js';
import type { Bounds, MapMarker } from '../../../src/client/public.js';
import { SEARCH, type Found, type SearchAnswer } from '../api/documents.js';
import { request } from '../api/graphql.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { distanceText } from '../text/distance-text.js';
import { countOf } from '../text/numbers.js';
import { positionText } from '../text/position-text.js';
import type { Seen } from '../view/seen.js';
import { readCoordinates, type Position } from './coordinates.js';
import { findNames } from './names.js';

const MOST_RESULTS = 8;
/** Maximum number of results in view that precede equally good ones elsewhere. */
const MOST_IN_VIEW = 3;
/** Results reserved for collections and zones, because markers often rank higher. */
const MOST_OTHERS = 2;

type FoundMarker = Pick<MapMarker, 'id' | 'key' | 'name' | 'position'>;
interface FoundZone {
  readonly id: string;
  readonly key: string;
  readonly name: string | null;
  readonly bounds: Bounds;
}

export interface SearchOptions {
  readonly map: MapLibre;
  readonly layers: () => readonly CollectionLayer[];
  readonly seen: Seen;
  readonly onMarker: (marker: FoundMarker) => void;
  readonly onZone: (zone: FoundZone) => void;
  readonly onCollection: (layer: CollectionLayer) => void;
  readonly onPosition: (position: Position) => void;
}

/** A result for the list and the map. */
export interface Result {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  /** Its position on the map; undefined for a collection. */
  readonly at: Position | undefined;
  readonly go: () => void;
}

export interface Results {
  readonly results: readonly Result[];
  readonly note: string;
}

interface Scored {
  readonly result: Result;
  readonly score: number;
}

const READ_AS = {
  first: 'Latitude, longitude',
  second: 'Longitude, latitude',
};
const HINT = 'Searches names in all collections, and coordinates.';

const middleOf = ({ west, south, east, north }: Bounds): Position => ({
  lng: (west + east + (west > east ? 360 : 0)) / 2,
  lat: (south + north) / 2,
});

/** Converts search results, and adds their distance from the center of the map: names are often the same. */
function resultsOn({ map, onMarker, onZone, onCollection }: SearchOptions) {
  const distanceTo = ({ lng, lat }: Position) => distanceText(map.getCenter().distanceTo(new LngLat(lng, lat)));
  const details = (at: Position, ...parts: readonly (string | null)[]) =>
    // Keeps the number and its unit on one line.
    [...parts, distanceTo(at).replace(' ', '\u00a0')].filter((part) => part !== null).join(' · ');
  return {
    marker: (marker: FoundMarker & { readonly category: string | null }, collection: string): Result => ({
      id: marker.id,
      title: marker.name ?? marker.key,
      detail: details(marker.position, marker.category, collection),
      at: marker.position,
      go: () => onMarker(marker),
    }),
    zone: (zone: FoundZone, collection: string): Result => ({
      id: zone.id,
      title: zone.name ?? zone.key,
      detail: details(middleOf(zone.bounds), collection),
      at: middleOf(zone.bounds),
      go: () => onZone(zone),
    }),
    collection: (layer: CollectionLayer): Result => ({
      id: `collection::${layer.collection.key}`,
      title: layer.collection.name,
      detail: 'Collection',
      at: undefined,
      go: () => onCollection(layer),
    }),
  };
}

/** Collections, and loaded zones, with their names. */
function others(options: SearchOptions) {
  const make = resultsOn(options);
  return options
    .layers()
    .flatMap((layer) => [
      { name: layer.collection.name, weight: 1, result: make.collection(layer) },
      ...layer.states
        .flatMap(({ zones }) => zones)
        .map((zone) => ({ name: zone.name ?? zone.key, weight: 0, result: make.zone(zone, layer.collection.name) })),
    ]);
}

/** Everything with a name that the page has loaded. A marker's largest numeric property is its weight. */
function loaded(options: SearchOptions) {
  const make = resultsOn(options);
  const markers = options.layers().flatMap((layer) =>
    options.seen.of(layer).map((marker) => {
      const numbers = Object.values(marker.properties as object).filter((value) => typeof value === 'number');
      const weight = Math.max(0, ...numbers);
      return { name: marker.name ?? marker.key, weight, result: make.marker(marker, layer.collection.name) };
    }),
  );
  return [...markers, ...others(options)];
}

/** The server's results. Of equally good matches, a few in view come first. */
async function ask(
  text: string,
  options: SearchOptions,
  signal: AbortSignal,
): Promise<{ readonly found: readonly Scored[]; readonly total: number }> {
  const variables = { text, bounds: boundsOf(options.map), inView: MOST_IN_VIEW, all: MOST_RESULTS };
  const { inView, all } = await request<SearchAnswer>(SEARCH, variables, signal);
  const make = resultsOn(options);
  const resultOf = (node: Found): Result | undefined => {
    if (node.__typename === 'Marker') return make.marker(node, node.collection.name);
    if (node.__typename === 'Zone') return make.zone(node, node.collection.name);
    const layer = options.layers().find(({ collection }) => collection.key === node.key);
    return layer && make.collection(layer);
  };
  const found = [...inView.edges, ...all.edges].flatMap(({ node, score }) => {
    const result = resultOf(node);
    return result ? [{ result, score }] : [];
  });
  return { found, total: all.totalCount };
}

async function searchServer(text: string, options: SearchOptions, signal: AbortSignal): Promise<Results> {
  const { found, total } = await ask(text, options, signal);
  const named = findNames(text, others(options), MOST_OTHERS);
  const isSame = (name: string) => name.localeCompare(text, undefined, { sensitivity: 'base' }) === 0;
  const own = named.map(({ name, result }) => ({ result, score: isSame(name) ? 1 : 0.8 }));
  const isOwn = ({ result: { id } }: Scored) => own.some(({ result }) => result.id === id);
  const ofServer = new Map(found.filter((each) => !isOwn(each)).map((each) => [each.result.id, each]));
  const best = [...ofServer.values()].toSorted((a, b) => b.score - a.score).slice(0, MOST_RESULTS - own.length);
  const results = [...best, ...own].toSorted((a, b) => b.score - a.score).map(({ result }) => result);
  if (results.length === 0 && total === 0) return { results, note: 'Nothing found.' };
  const part = total > results.length ? `${results.length} of ` : '';
  return { results, note: part + countOf(Math.max(total, results.length), 'result') };
}

/**
 * Searches for a text: as coordinates if it is a position, otherwise for names on the server, or, with a note, for
 * names that the page has loaded.
 */
export async function findResults(text: string, options: SearchOptions, signal: AbortSignal): Promise<Results> {
  const positions = readCoordinates(text).map(({ position, latitude }) => ({
    id: `${latitude}`,
    title: positionText(position),
    detail: latitude ? READ_AS[latitude] : 'Position',
    at: position,
    go: () => options.onPosition(position),
  }));
  if (positions.length > 0) return { results: positions, note: '' };
  if (!/[\p{L}\p{N}]/u.test(text)) return { results: [], note: HINT };
  try {
    return await searchServer(text, options, signal);
  } catch (error) {
    if (signal.aborted) return { results: [], note: '' };
    const all = loaded(options);
    const results = findNames(text, all, MOST_RESULTS).map(({ result }) => result);
    const reason = error instanceof Error ? error.message : String(error);
    return { results, note: `Searching only the ${countOf(all.length, 'name')} loaded on this page: ${reason}.` };
  }
}
