import type { MapGeoJSONFeature, Map as MapLibre, Point } from 'maplibre-gl';

import type { CollectionLayer } from './collection-layer.js';
import type { Kind } from './features.js';

/** Distance in px within which a click hits a marker: fingers are imprecise. */
const REACH = 8;
const ORDER: readonly Kind[] = ['marker', 'single', 'cluster', 'zone'];

export interface Picked {
  readonly layer: CollectionLayer;
  readonly kind: Kind;
  readonly feature: MapGeoJSONFeature;
}

/** The feature at a point: markers take precedence over clusters, clusters over zones. */
export function pick(map: MapLibre, layers: readonly CollectionLayer[], at: Point): Picked | undefined {
  const owners = new Map(layers.flatMap((layer) => layer.mapLayers.map((id) => [id, layer] as const)));
  if (owners.size === 0) return undefined;
  const exact = map.queryRenderedFeatures(at, { layers: [...owners.keys()] });
  const points = [...owners.keys()].filter((id) => /\/(markers|clusters)$/.test(id));
  const box: [[number, number], [number, number]] = [[at.x - REACH, at.y - REACH], [at.x + REACH, at.y + REACH]]; // prettier-ignore
  const near = points.length === 0 ? [] : map.queryRenderedFeatures(box, { layers: points });
  const picked = [...exact, ...near].flatMap((feature) => {
    const layer = owners.get(feature.layer.id);
    const kind = ORDER.find((each) => each === feature.properties['kind']);
    return layer && kind ? [{ layer, feature, kind }] : [];
  });
  return picked.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))[0];
}
