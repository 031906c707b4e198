import { MERCATOR_LAT } from '../../geo/mercator.js';
import { MOST_LEVEL } from '../../geo/tiles.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { extentOf } from '../items.js';
import type { TileOptions } from './request.js';
import type { LayerName } from './tile.js';

const COUNTED = { count: 'Number' };
const NAMED = { id: 'String', key: 'String', name: 'String' };

/** TileJSON 3.0.0 for the tiles of a collection at a template of URLs. Throws NOT_FOUND. */
export async function tileJson(context: MapContext, key: string, { layers, properties }: TileOptions, url: string) {
  const collection = await requireCollection(context, key);
  const { name, description, mapProperties, grant } = collection;
  const drawn = (properties ?? mapProperties).filter((each) => grant?.hidden.has(each) !== true);
  const own = Object.fromEntries(drawn.map((each) => [each, 'String, Number or Boolean']));
  const fields: Readonly<Record<LayerName, Readonly<Record<string, string>>>> = {
    markers: { ...own, ...NAMED, category: 'String' },
    clusters: COUNTED,
    cells: { ...COUNTED, geohash: 'String' },
    // Which other ones zones have is not known.
    zones: properties ? { ...own, ...NAMED } : NAMED,
  };
  const { west, south, east, north } = await extentOf(context, collection);
  // Those of a collection that tiles do not show are also within Web Mercator.
  const isShown = south < MERCATOR_LAT && north > -MERCATOR_LAT;
  const [least, most] = isShown
    ? [Math.max(-MERCATOR_LAT, south), Math.min(MERCATOR_LAT, north)]
    : [-MERCATOR_LAT, MERCATOR_LAT];
  return {
    tilejson: '3.0.0',
    tiles: [url],
    name,
    ...(description === null ? {} : { description }),
    minzoom: 0,
    maxzoom: MOST_LEVEL,
    // TileJSON has no bounds across the antimeridian.
    bounds: west > east ? [-180, least, 180, most] : [west, least, east, most],
    vector_layers: layers.map((id) => ({ id, fields: fields[id] })),
  };
}
