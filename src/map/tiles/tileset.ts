import { MOST_LEVEL } from '../../geo/tiles.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { DEFAULT_LAYERS } from './request.js';

const OGC = 'http://www.opengis.net/def';
/** The tiling scheme of map libraries. */
export const SCHEME = 'WebMercatorQuad';
export const TILESETS = `${OGC}/rel/ogc/1.0/tilesets-vector`;
const EQUATOR_METERS = 2 * Math.PI * 6_378_137;
const TILE_PIXELS = 256;
/** OGC's pixel, which makes scales of sizes. */
const PIXEL_METERS = 0.000_28;

const JSON_TYPE = 'application/json';

/** The tiles of a collection as OGC describes them. `base`: the absolute URL of `/ogc`. Throws NOT_FOUND. */
export async function tileset(context: MapContext, base: string, key: string) {
  const { name, description } = await requireCollection(context, key);
  const tiles = `${base.replace(/ogc$/, 'tiles')}/${encodeURIComponent(key)}`;
  const links = [
    {
      rel: 'self',
      type: JSON_TYPE,
      href: `${base}/collections/${encodeURIComponent(key)}/tiles/${SCHEME}`,
    },
    { rel: `${OGC}/rel/ogc/1.0/tiling-scheme`, type: JSON_TYPE, href: `${base}/tileMatrixSets/${SCHEME}` },
    {
      rel: 'item',
      type: 'application/vnd.mapbox-vector-tile',
      href: `${tiles}/{tileMatrix}/{tileCol}/{tileRow}`,
      templated: true,
    },
    { rel: 'describedby', type: JSON_TYPE, href: `${tiles}.json`, title: 'TileJSON' },
  ];
  return {
    title: name,
    ...(description !== null && { description }),
    dataType: 'vector',
    crs: `${OGC}/crs/EPSG/0/3857`,
    tileMatrixSetURI: `${OGC}/tilematrixset/OGC/1.0/${SCHEME}`,
    layers: DEFAULT_LAYERS.map((id) => ({ id, dataType: 'vector' })),
    links,
  };
}

/** The tiling scheme, with as many zooms as there are tiles of. */
export const tileMatrixSet = () => ({
  id: SCHEME,
  title: 'Google Maps Compatible for the World',
  uri: `${OGC}/tilematrixset/OGC/1.0/${SCHEME}`,
  crs: `${OGC}/crs/EPSG/0/3857`,
  orderedAxes: ['X', 'Y'],
  wellKnownScaleSet: `${OGC}/wkss/OGC/1.0/GoogleMapsCompatible`,
  tileMatrices: Array.from({ length: MOST_LEVEL + 1 }, (_, zoom) => {
    const cellSize = EQUATOR_METERS / TILE_PIXELS / 2 ** zoom;
    return {
      id: String(zoom),
      scaleDenominator: cellSize / PIXEL_METERS,
      cellSize,
      pointOfOrigin: [-EQUATOR_METERS / 2, EQUATOR_METERS / 2],
      tileWidth: TILE_PIXELS,
      tileHeight: TILE_PIXELS,
      matrixWidth: 2 ** zoom,
      matrixHeight: 2 ** zoom,
    };
  }),
});
