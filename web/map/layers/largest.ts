import { geohashOf } from '../../../src/client/geohash.js';
import type { MapCluster, MapMarker } from '../../../src/client/public.js';
import { LARGEST } from '../api/documents.js';
import { request } from '../api/graphql.js';
import { filterOf, valueOf } from '../rules/rules.js';
import { formatNumber } from '../text/numbers.js';
import type { CollectionLayer } from './collection-layer.js';

/** Larger clusters would be too expensive to read. */
const MOST_MARKERS = 300;

type Described = Pick<MapMarker, 'name' | 'key' | 'category' | 'position' | 'properties'>;

interface Found {
  readonly collection: { readonly mapProperties: readonly string[] } | null;
  readonly viewport: {
    readonly markers: { readonly nodes: readonly Described[]; readonly pageInfo: { readonly hasNextPage: boolean } };
  };
}

async function find(layer: CollectionLayer, { bounds, geohashes, count }: MapCluster): Promise<string | undefined> {
  const filter = layer.isUnfiltered ? undefined : filterOf(layer.rules);
  const { collection, viewport } = await request<Found>(LARGEST, { key: layer.collection.key, bounds, filter });
  const { nodes, pageInfo } = viewport.markers;
  // The rectangle around the cells may extend into other clusters.
  const length = geohashes[0]?.length ?? 0;
  const own = nodes.filter(({ position }) => geohashes.includes(geohashOf(position, length)));
  const sizeOf = (marker: Described, name: string) => {
    const value = valueOf(marker, name);
    return typeof value === 'number' ? value : -Infinity;
  };
  const property = collection?.mapProperties.find((name) => own.some((marker) => sizeOf(marker, name) > -Infinity));
  if (property === undefined || pageInfo.hasNextPage) return undefined;
  const largest = own.reduce((best, each) => (sizeOf(each, property) > sizeOf(best, property) ? each : best));
  return `${largest.name ?? largest.key} +${formatNumber(count - 1)}`;
}

const known = new WeakMap<MapCluster, Promise<string | undefined>>();

/**
 * The largest place of a cluster by the first numeric property that maps draw, and the number of the others; undefined
 * if unknown or too expensive to find. Each cluster is read once.
 */
export function largestIn(layer: CollectionLayer, cluster: MapCluster): Promise<string | undefined> {
  if (cluster.count > MOST_MARKERS) return Promise.resolve(undefined);
  const finding = known.get(cluster) ?? find(layer, cluster).catch(() => undefined);
  known.set(cluster, finding);
  return finding;
}
