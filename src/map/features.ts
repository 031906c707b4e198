import { markerId } from '../keys/ids.js';
import type { Collection } from '../model/collection.js';
import { jsonOf } from '../model/json.js';
import { pickProperties, type MapMarker, type Properties } from '../model/marker.js';
import type { MapContext } from '../read/context.js';
import type { MarkerFilterInput } from '../read/filter.js';
import type { MarkerFormat } from '../read/from-pages/marker-texts.js';
import { clustersOf, type MapCluster } from './cells/clusters.js';
import { readContentQuestion, viewportContent, type ViewportContent } from './content.js';
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

/**
 * The Features of a collection's markers with the properties that a map draws. While the map properties are changed,
 * markers may have others besides.
 */
export const featureFormat = (mapProperties: readonly string[]): MarkerFormat => ({
  name: `Feature ${JSON.stringify(mapProperties)}`,
  lacks: () => false,
  write: (marker) => markerFeatureText(marker, drawnProperties(marker, mapProperties)),
});

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
  const content = await viewportContent(context, viewport, question);
  let fewer = content.clusters;
  // At the latest when the world is a single square, only one cluster is left.
  for (let zoom = viewport.zoom - 1; fewer.length > question.limit; zoom--) {
    ({ clusters: fewer } = await clustersOf(context, { ...viewport, zoom }, question));
  }
  return contentText(context, { markers: content.markers, clusters: fewer }, question.collection);
}

/** Markers or clusters of a collection as the JSON of a FeatureCollection. */
export async function contentText(
  { loaders, turn }: MapContext,
  { markers, clusters }: Pick<ViewportContent, 'markers' | 'clusters'>,
  { mapProperties }: Collection,
): Promise<Buffer> {
  const features =
    markers.length > 0
      ? await loaders.markerTexts.join(markers, featureFormat(mapProperties), turn)
      : [Buffer.from(clusters.map((cluster) => JSON.stringify(clusterFeature(cluster))).join())];
  return Buffer.concat([Buffer.from('{"type":"FeatureCollection","features":['), ...features, Buffer.from(']}')]);
}
