import { badInput } from '../../errors.js';
import { MOST_LEVEL, type Tile } from '../../geo/tiles.js';
import type { Limits } from '../../model/limits.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { jsonIn } from '../../read/cursor.js';
import { readFilter, type MarkerFilterInput } from '../../read/filter.js';
import { LAYERS, type LayerName, type TileRequest } from './tile.js';

/** The parameters of a URL; one that is given twice is a list. */
export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a tile of any place shows. */
export interface TileOptions {
  readonly layers: readonly LayerName[];
  readonly properties: readonly string[] | undefined;
  readonly filter: MarkerFilterInput | null;
  readonly limit: number;
}

export const DEFAULT_LAYERS: readonly LayerName[] = ['markers', 'clusters'];
const DEFAULT_LIMIT = 500;
const MOST_PROPERTIES = 100;

/** The only value of each parameter. Throws BAD_USER_INPUT for one that is not allowed, or given twice. */
export function readParameters<Name extends string>(
  given: Parameters,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name as Name))
      throw badInput('parameter', name, names.length ? `one of ${names.join(', ')}` : 'left out');
    if (typeof value !== 'string') throw badInput(name, value, 'given once');
  }
  return given as Partial<Record<Name, string>>;
}

/** A whole number in decimal digits. Throws BAD_USER_INPUT naming `field` for anything else, or out of range. */
export function readDigits(field: string, text: string, least: number, most: number): number {
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw badInput(field, text, `a whole number from ${least} to ${most}`);
  return value;
}

/** The tile of a URL. Throws BAD_USER_INPUT naming the number that is out of range. */
export function readTile(z: string, x: string, y: string): Tile {
  const level = readDigits('z', z, 0, MOST_LEVEL);
  const last = 2 ** level - 1;
  return { z: level, x: readDigits('x', x, 0, last), y: readDigits('y', y, 0, last) };
}

function readLayers(text: string | undefined): readonly LayerName[] {
  if (text === undefined) return DEFAULT_LAYERS;
  const names = text.split(',');
  const isLayer = (name: string): name is LayerName => (LAYERS as readonly string[]).includes(name);
  if (!names.every(isLayer) || new Set(names).size < names.length) {
    throw badInput('layers', text, `some of ${LAYERS.join(', ')}, with commas, each once`);
  }
  // In one order, so that one tile has one ETag.
  return LAYERS.filter((layer) => names.includes(layer));
}

function readNames(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const names = [...new Set(text.split(','))].filter((name) => name !== '').sort();
  if (names.length > MOST_PROPERTIES) {
    throw badInput('properties', `${names.length} names`, `at most ${MOST_PROPERTIES} names, with commas`);
  }
  return names;
}

/** A filter in the JSON of MarkerFilter; null for none. Throws BAD_USER_INPUT. */
export function readFilterText(text: string | undefined): MarkerFilterInput | null {
  const filter = text === undefined ? null : jsonIn(text);
  const names = ['category', 'updatedAfter', 'properties'];
  if (typeof filter !== 'object' || Array.isArray(filter)) throw badInput('filter', text, 'a MarkerFilter as JSON');
  const unknown = Object.keys(filter ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) throw badInput('filter', unknown, `an object with ${names.join(', ')}`);
  const { properties } = (filter ?? {}) as MarkerFilterInput;
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  if (properties != null && !(Array.isArray(properties) && properties.every(isObject))) {
    throw badInput('filter.properties', properties, 'a list of comparisons');
  }
  readFilter(filter as MarkerFilterInput | null);
  return filter as MarkerFilterInput | null;
}

/** The most markers of an answer, by default 500. Throws BAD_USER_INPUT. */
export const readLimit = (text: string | undefined, { maxFirst }: Limits): number =>
  text === undefined ? Math.min(DEFAULT_LIMIT, maxFirst) : readDigits('limit', text, 1, maxFirst);

const TILE_PARAMETERS = ['layers', 'properties', 'filter', 'limit'] as const;

/** The options in the parameters of a URL. Throws BAD_USER_INPUT naming the first that is not allowed. */
export function readTileOptions(given: Parameters, limits: Limits): TileOptions {
  const { layers, properties, filter, limit } = readParameters(given, TILE_PARAMETERS);
  return {
    layers: readLayers(layers),
    properties: readNames(properties),
    filter: readFilterText(filter),
    limit: readLimit(limit, limits),
  };
}

/** The request for a tile of a collection. Throws NOT_FOUND. */
export async function tileRequest(
  context: MapContext,
  key: string,
  tile: Tile,
  options: TileOptions,
): Promise<TileRequest> {
  const collection = await requireCollection(context, key);
  return { ...options, collection, tile, filter: readFilter(options.filter) };
}
