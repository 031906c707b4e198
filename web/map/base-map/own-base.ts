import { layers, namedFlavor } from '@protomaps/basemaps';
import { addProtocol, type LayerSpecification, type StyleSpecification } from 'maplibre-gl';
import { PMTiles, Protocol, TileType } from 'pmtiles';

import { fontFaces, REGULAR, STRONG } from './fonts.js';
import { belowNames, belowRooms } from './names.js';
import type { Theme } from './palette.js';

/** A custom base map. */
export interface OwnBase {
  readonly style: StyleSpecification;
  /** Its layers in a theme; empty if it has no themes. */
  readonly layersOf: (theme: Theme) => readonly LayerSpecification[];
}

/** Layers for vector tiles in Protomaps' schema, without icons, in the page's fonts. */
function protomapsLayers(theme: Theme): LayerSpecification[] {
  const { pois: _, ...flavor } = namedFlavor(theme);
  const fonts = { regular: REGULAR, italic: REGULAR, bold: STRONG };
  const made = layers('own', { ...flavor, ...fonts }, { lang: 'en' }) as LayerSpecification[];
  return made.map((layer) => {
    if (layer.type !== 'symbol') return layer;
    const { 'icon-image': _icon, ...layout } = layer.layout ?? {};
    return { ...layer, layout };
  });
}

/** Throws if the file's vector tiles are not in Protomaps' schema: none of them would be drawn. */
async function checkSchema(tiles: PMTiles): Promise<void> {
  const { vector_layers: given } = (await tiles.getMetadata()) as { readonly vector_layers?: unknown };
  if (Array.isArray(given) && !given.some(({ id }: { readonly id?: unknown }) => id === 'earth'))
    throw new Error('its tiles do not use the Protomaps schema; provide a style that draws them');
}

/** A PMTiles file with raster tiles, or with vector tiles in Protomaps' schema. */
async function ofTiles(url: string, theme: Theme): Promise<OwnBase> {
  const tiles = new PMTiles(url);
  const { tileType } = await tiles.getHeader();
  const source = { url: `pmtiles://${url}` };
  const style = { version: 8, 'font-faces': fontFaces() } as const;
  if (tileType === TileType.Mvt) {
    await checkSchema(tiles);
    const sources = { own: { type: 'vector', ...source } } as const;
    return { style: { ...style, sources, layers: protomapsLayers(theme) }, layersOf: protomapsLayers };
  }
  const sources = { own: { type: 'raster', tileSize: 256, ...source } } as const;
  return { style: { ...style, sources, layers: [{ id: 'own', type: 'raster', source: 'own' }] }, layersOf: () => [] };
}

/** A custom style; the names of markers are drawn in the page's fonts. */
async function ofStyle(url: string): Promise<OwnBase> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} returned HTTP status ${response.status}`);
  const given = (await response.json()) as StyleSpecification;
  return { style: { ...given, 'font-faces': { ...given['font-faces'], ...fontFaces() } }, layersOf: () => [] };
}

/**
 * Reads the base map at a URL: a MapLibre style, which may use PMTiles, or a PMTiles file. Rejects if it cannot be
 * read.
 */
export async function readOwnBase(url: string, theme: Theme): Promise<OwnBase> {
  addProtocol('pmtiles', new Protocol({ metadata: true }).tile);
  const { style, layersOf } = await (new URL(url).pathname.endsWith('.pmtiles') ? ofTiles(url, theme) : ofStyle(url));
  const firstName = style.layers.findIndex(({ type }) => type === 'symbol');
  const own = style.layers.toSpliced(firstName < 0 ? Infinity : firstName, 0, belowNames);
  return { style: { ...style, layers: [...own, belowRooms] }, layersOf };
}
