import { createRequire } from 'node:module';
import type { Feature, FeatureCollection, LineString, Polygon } from 'geojson';

interface River {
  /** Zoom at which Natural Earth shows it, in tiles of 256 px. */
  readonly min_zoom: number;
  /** Width at that scale. */
  readonly strokeweig: number;
}

const read = <G extends LineString | Polygon, P>(name: string) =>
  (createRequire(import.meta.url)(`mapeo-offline-map/dist/${name}.json`) as FeatureCollection<G, P>).features;

/** Rivers, with the zoom from which they are shown and their relative width. */
export function rivers(): Feature[] {
  return read<LineString, River>('rivers').map(({ type, geometry, properties: { min_zoom: zoom, strokeweig } }) => {
    return { type, geometry, properties: { from: Math.round(zoom), width: strokeweig } };
  });
}

/** Lakes; less important ones are shown from higher zooms. */
export function lakes(): Feature[] {
  return read<Polygon, { readonly scalerank: number }>('lakes').map(({ type, geometry, properties }) => {
    return { type, geometry, properties: { from: properties.scalerank } };
  });
}
