import { markerId } from '../keys/ids.js';
import { jsonOf } from '../model/json.js';
import { pickProperties, type MapMarker, type Properties } from '../model/marker.js';
import { ownBuffer } from '../model/memory.js';
import type { MapContext } from '../read/context.js';
import type { MarkerFilterInput } from '../read/filter.js';
import { clustersOf, type MapCluster } from './cells/clusters.js';
import { readContentQuestion, viewportContent } from './content.js';
import type { Viewport } from './viewport.js';

/** An RFC 7946 Feature with a Point. */
export interface PointFeature {
  readonly type: 'Feature';
  readonly id?: string;
  readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly [lng: number, lat: number] };
  readonly properties: Properties;
}

/** A marker as a Feature with the given properties, and `key`, `name` and `category`. */
export function markerFeature(marker: MapMarker, properties: Properties): PointFeature {
  const { collection, key, name, category, position } = marker;
  return {
    type: 'Feature',
    id: markerId(collection, key),
    geometry: { type: 'Point', coordinates: [position.lng, position.lat] },
    properties: { ...properties, key, name, category },
  };
}

/** Properties of every marker's Feature, after the marker's own. */
const COMMON = ['key', 'name', 'category'] as const;

/** The JSON of `markerFeature`, without creating the objects. */
export function markerFeatureText(marker: MapMarker, properties: Properties): string {
  // A property of the same name keeps its position but not its value.
  if (COMMON.some((name) => Object.hasOwn(properties, name))) return jsonOf(markerFeature(marker, properties));
  const { collection, key, name, category, position } = marker;
  const own = jsonOf(properties).slice(1, -1);
  const id = JSON.stringify(markerId(collection, key));
  const common = `"key":${JSON.stringify(key)},"name":${JSON.stringify(name)},"category":${JSON.stringify(category)}`;
  return `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[${position.lng},${position.lat}]},"properties":{${own}${own === '' ? '' : ','}${common}}}`;
}

/** The properties of a marker that maps draw, of which these are the names. */
export const drawnProperties = ({ complete, mapProperties }: MapMarker, names: readonly string[]): Properties =>
  complete ? mapProperties : pickProperties(mapProperties, names);

/** Features made of markers, and of which properties. */
const drawn = new WeakMap<MapMarker, { readonly names: string; readonly feature: Buffer }>();

/**
 * Returns a function that makes the Features of a collection's markers with the properties that a map draws, each once
 * while the marker is in memory. While the map properties are changed, markers may have others besides.
 */
export function featuresOf(mapProperties: readonly string[]): (marker: MapMarker) => Buffer {
  const all = JSON.stringify(mapProperties);
  return (marker) => {
    const names = marker.complete ? '' : all;
    const known = drawn.get(marker);
    if (known?.names === names) return known.feature;
    const feature = ownBuffer(markerFeatureText(marker, drawnProperties(marker, mapProperties)));
    drawn.set(marker, { names, feature });
    return feature;
  };
}

/** A cluster as a Feature; `cluster: true` distinguishes it from markers. */
export function clusterFeature({ position, count }: MapCluster): PointFeature {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [position.lng, position.lat] },
    properties: { cluster: true, count },
  };
}

/**
 * A viewport as the JSON of a FeatureCollection: its markers with their projected properties if there are at most
 * `limit` inside, otherwise its clusters, formed as at a lower zoom if there would be more than `limit` of them.
 */
export async function viewportFeatures(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
  limit: number,
  filter?: MarkerFilterInput | null,
): Promise<Buffer> {
  const question = await readContentQuestion(context, 'features', collectionKey, limit, filter);
  const { mode, markers, clusters } = await viewportContent(context, viewport, question);
  if (mode === 'MARKERS') return collectionOf(markers.map(featuresOf(question.collection.mapProperties)));
  let fewer: readonly MapCluster[] = clusters;
  // At the latest when the world is a single square, only one cluster is left.
  for (let zoom = viewport.zoom - 1; fewer.length > question.limit; zoom--) {
    ({ clusters: fewer } = await clustersOf(context, { ...viewport, zoom }, question));
  }
  return collectionOf(fewer.map((cluster) => Buffer.from(JSON.stringify(clusterFeature(cluster)))));
}

const HEAD = Buffer.from('{"type":"FeatureCollection","features":[');
const TAIL = Buffer.from(']}');
const COMMA = ','.charCodeAt(0);

/** A FeatureCollection of already serialized features. */
export function collectionOf(features: readonly Buffer[]): Buffer {
  const commas = Math.max(0, features.length - 1);
  const bytes = features.reduce((sum, { length }) => sum + length, HEAD.length + commas + TAIL.length);
  const text = Buffer.allocUnsafe(bytes);
  let end = HEAD.copy(text);
  features.forEach((feature, index) => {
    if (index > 0) text[end++] = COMMA;
    end += feature.copy(text, end);
  });
  TAIL.copy(text, end);
  return text;
}
