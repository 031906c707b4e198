import { deflateRawSync, inflateRawSync } from 'node:zlib';

import type { Point } from '../../geo/bounds.js';
import { encode, LONGEST_Z } from '../../geo/geohash.js';
import { jsonOf } from '../../model/json.js';
import { withMapProperties, type MapMarker, type Properties } from '../../model/marker.js';
import { orderedMarker, type OrderedMarker } from '../../pages/ordered-marker.js';
import type { PackOptions } from '../../pages/pack.js';
import { setOwn } from '../request/wire.js';

/** The first byte of a page's data. Data in another format is not read; the index is used instead. */
export const PAGE_FORMAT = 2;

/** Properties in columns: markers with the same names in the same order share a shape. */
interface PropertyColumns {
  readonly shapes: readonly (readonly string[])[];
  /** The shape of each marker. */
  readonly shapeOf: readonly number[];
  /** For each shape and each of its names, the values of its markers. */
  readonly values: readonly unknown[];
}

/** The columns of a page's markers, as stored; `complete` is 1 if `m` has all properties of the marker, otherwise 0. */
export type PageColumns = readonly [
  keys: readonly string[],
  lngs: readonly number[],
  lats: readonly number[],
  names: readonly (string | null)[],
  categories: readonly (string | null)[],
  versions: readonly number[],
  complete: readonly (0 | 1)[],
  shapes: PropertyColumns['shapes'],
  shapeOf: PropertyColumns['shapeOf'],
  values: PropertyColumns['values'],
  expiries?: readonly (number | null)[],
];

function propertyColumns(all: readonly Properties[]): PropertyColumns {
  const shapes = new Map<
    string,
    { readonly index: number; readonly names: readonly string[]; members: Properties[] }
  >();
  const shapeOf = all.map((properties) => {
    const names = Object.keys(properties);
    const text = JSON.stringify(names);
    const shape = shapes.get(text) ?? { index: shapes.size, names, members: [] };
    shapes.set(text, shape);
    shape.members.push(properties);
    return shape.index;
  });
  const values = [...shapes.values()].flatMap(({ names, members }) =>
    names.flatMap((name) => members.map((properties) => properties[name])),
  );
  return { shapes: [...shapes.values()].map(({ names }) => names), shapeOf, values };
}

/** The properties of each marker. */
function propertiesOf({ shapes, shapeOf, values }: PropertyColumns): Properties[] {
  const members = shapes.map(() => 0);
  for (const shape of shapeOf) members[shape] = (members[shape] ?? 0) + 1;
  let start = 0;
  const starts = shapes.map((names, shape) => {
    const at = start;
    start += names.length * (members[shape] ?? 0);
    return at;
  });
  const taken = shapes.map(() => 0);
  return shapeOf.map((shape) => {
    const nth = taken[shape] ?? 0;
    taken[shape] = nth + 1;
    const step = members[shape] ?? 0;
    let at = (starts[shape] ?? 0) + nth;
    const properties: Record<string, unknown> = {};
    for (const name of shapes[shape] ?? []) {
      setOwn(properties, name, values[at]);
      at += step;
    }
    return properties;
  });
}

/**
 * Encodes a page's data: what the geo index stores of each marker, without loss, in columns and compressed. By trial on
 * cities, brotli 5 is 1% larger and takes twice the time; brotli 11 is 13% smaller and takes 60 times the time.
 */
export function encodePage(entries: readonly OrderedMarker[]): Uint8Array {
  const markers = entries.map(({ marker }) => marker);
  const { shapes, shapeOf, values } = propertyColumns(markers.map(({ mapProperties }) => mapProperties));
  const expiries = markers.map(({ expiresAt = null }) => expiresAt);
  const stored: PageColumns = [
    markers.map(({ key }) => key),
    markers.map(({ position }) => position.lng),
    markers.map(({ position }) => position.lat),
    markers.map(({ name }) => name),
    markers.map(({ category }) => category),
    markers.map(({ mapVersion }) => mapVersion),
    markers.map(({ complete }) => (complete ? 1 : 0)),
    shapes,
    shapeOf,
    values,
    ...(expiries.some((expiry) => expiry !== null) ? ([expiries] as const) : ([] as const)),
  ];
  // Of its own memory, not a part of Node's pool: the consumer keeps it.
  return Uint8Array.from(Buffer.concat([Buffer.of(PAGE_FORMAT), deflateRawSync(jsonOf(stored))]));
}

/**
 * A page's item should not exceed 1 KB, so that it costs one write unit; its other attributes take up to about 70
 * bytes.
 */
export const PACKING: PackOptions = { encode: encodePage, mostBytes: 1_024 - 70 };

/** Most pages are no longer once inflated: Node's 16 KB take half as long again. */
const INFLATED_BYTES = 4 * 1024;

/** The columns of a page; undefined if the data has another format. */
export function columnsOfPage(data: Uint8Array): PageColumns | undefined {
  if (data[0] !== PAGE_FORMAT) return undefined;
  const text = inflateRawSync(data.subarray(1), { chunkSize: INFLATED_BYTES }).toString();
  const [keys, lngs, lats, names, categories, ...rest] = JSON.parse(text) as PageColumns;
  // Each text once, since the columns may be kept.
  const known = new Map(categories.map((category) => [category, category]));
  return [keys, lngs, lats, names, categories.map((category) => known.get(category) ?? null), ...rest];
}

/** A page's columns and collection, and what its markers have been decoded to together. */
class DecodedPage {
  readonly columns: PageColumns;
  readonly collection: string;
  #properties: readonly Properties[] | undefined;

  constructor(columns: PageColumns, collection: string) {
    this.columns = columns;
    this.collection = collection;
  }

  get properties(): readonly Properties[] {
    const [, , , , , , , shapes, shapeOf, values] = this.columns;
    this.#properties ??= propertiesOf({ shapes, shapeOf, values });
    return this.#properties;
  }
}

/** A marker of a page, decoded as far as it is needed: maps read many, of which answers have the text already. */
export class PageMarker implements MapMarker {
  readonly page: DecodedPage;
  /** Its number in the page. */
  readonly index: number;
  declare readonly expiresAt?: number;
  #geohash: string | undefined;

  constructor(page: DecodedPage, index: number) {
    this.page = page;
    this.index = index;
    const expiry = page.columns[10]?.[index];
    if (typeof expiry === 'number') this.expiresAt = expiry;
  }

  get collection(): string {
    return this.page.collection;
  }

  get key(): string {
    return this.page.columns[0][this.index] ?? '';
  }

  get position(): Point {
    const [, lngs, lats] = this.page.columns;
    return { lng: lngs[this.index] ?? 0, lat: lats[this.index] ?? 0 };
  }

  get geohash(): string {
    this.#geohash ??= encode(this.position, LONGEST_Z);
    return this.#geohash;
  }

  get name(): string | null {
    return this.page.columns[3][this.index] ?? null;
  }

  get category(): string | null {
    return this.page.columns[4][this.index] ?? null;
  }

  get mapVersion(): number {
    return this.page.columns[5][this.index] ?? 0;
  }

  get mapProperties(): Properties {
    return this.page.properties[this.index] ?? {};
  }

  get complete(): boolean {
    return this.page.columns[6][this.index] === 1;
  }
}

/** The markers of a page of this collection, in order. */
export function entriesOfColumns(columns: PageColumns, collection: string): OrderedMarker[] {
  const page = new DecodedPage(columns, collection);
  return columns[0].map((_, index) => orderedMarker(new PageMarker(page, index)));
}

/** The same as plain objects, which can be copied and compared. */
export const plainEntries = (columns: PageColumns, collection: string): OrderedMarker[] =>
  entriesOfColumns(columns, collection).map(({ marker }) =>
    orderedMarker(withMapProperties(marker, marker.mapProperties)),
  );

/** Decodes the entries of a page of this collection to plain objects; undefined if the data has another format. */
export function decodePage(data: Uint8Array, collection: string): OrderedMarker[] | undefined {
  const columns = columnsOfPage(data);
  return columns && plainEntries(columns, collection);
}
