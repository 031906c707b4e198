import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { deserialize, serialize } from 'node:v8';
import type { Geometry } from 'geojson';

import { limitExceeded } from '../../errors.js';
import { writeExactly } from '../../model/exact-json.js';
import type { Marker, Properties } from '../../model/marker.js';
import { keepIn } from '../read/gzip.js';
import type { WholeZone } from './read-zones.js';

/** What all values of a column are; lists, objects and values of several types are JSON texts. */
type ColumnType = 'number' | 'boolean' | 'string' | 'json';
type Types = Map<string, ColumnType>;

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

export type Cell = string | number | boolean | null;

export interface TableRow {
  readonly geometry: Geometry;
  /** As many as there are columns. */
  readonly cells: readonly Cell[];
}

/** A row before all columns are known. A zone's geometry is text, because it may have megabytes. */
export interface UntypedRow {
  readonly labels: Properties;
  readonly properties: Properties;
  readonly geometry: Geometry | Uint8Array;
}

const MOST_COLUMNS = 1_000;
const GROUP_BYTES = 8 * 2 ** 20;
const GROUP_CELLS = 1_000_000;
const SIZE_BYTES = 4;

/** What a table has of a marker. */
export const markerRow = ({ key, position, name, category, place, properties }: Marker): UntypedRow => ({
  labels: { key, name, category, ...(place.length > 0 && { place }) },
  properties,
  geometry: { type: 'Point', coordinates: [position.lng, position.lat] },
});

/** What a table has of a zone. */
export const zoneRow = ({ zone: { key, name, properties }, geometry }: WholeZone): UntypedRow => ({
  labels: { key, name },
  properties,
  geometry,
});

/** Adds the types of what is there. */
function addTypes(types: Types, values: Properties): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined) continue;
    const known = types.get(name);
    const type = typeof value;
    const found = type === 'number' || type === 'boolean' || type === 'string' ? type : 'json';
    if (known !== found) types.set(name, known === undefined ? found : 'json');
  }
}

const cellsOf = (types: Types, values: Properties): Cell[] =>
  Array.from(types, ([name, type]) => {
    const value = Object.hasOwn(values, name) ? values[name] : null;
    if (value === null || value === undefined) return null;
    return type === 'json' ? writeExactly(value) : (value as Cell);
  });

/** Rows whose columns are all known before the first one is read, for which they wait in an unlinked file. */
export class Table {
  /** Whether each row is a marker; otherwise, each is a zone. */
  readonly isPoints: boolean;
  count = 0;
  readonly #labels: Types = new Map();
  readonly #properties: Types = new Map();
  #file: FileHandle | undefined;

  private constructor(isPoints: boolean) {
    this.isPoints = isPoints;
  }

  /** Reads all rows. Throws LIMIT_EXCEEDED for too many columns. */
  static async of(batches: AsyncIterable<readonly UntypedRow[]>, isPoints: boolean, folder = tmpdir()): Promise<Table> {
    const table = new Table(isPoints);
    table.#file = await keepIn(folder, table.#add(batches));
    return table;
  }

  async *#add(batches: AsyncIterable<readonly UntypedRow[]>): AsyncGenerator<Buffer> {
    for await (const rows of batches) {
      for (const { labels, properties } of rows) {
        addTypes(this.#labels, labels);
        addTypes(this.#properties, properties);
        if (this.#properties.size > MOST_COLUMNS)
          throw limitExceeded('number of properties', 'more', MOST_COLUMNS, 'export as geojson, ndjson or csv');
      }
      this.count += rows.length;
      const body = serialize(rows);
      const size = Buffer.alloc(SIZE_BYTES);
      size.writeUInt32LE(body.length);
      yield Buffer.concat([size, body]);
    }
  }

  /** Key, name, category and place, and then the properties; one with such a name has `_` after it. */
  columns(): readonly Column[] {
    const taken = new Set(['geometry', ...this.#labels.keys()]);
    const isTaken = (name: string) => taken.has(name) || this.#properties.has(name);
    const others = Array.from(this.#properties, ([property, type]) => {
      let name = property;
      if (taken.has(name)) while (isTaken(name)) name += '_';
      return { name, type };
    });
    return [...Array.from(this.#labels, ([name, type]) => ({ name, type })), ...others];
  }

  /** The rows, in groups of a few megabytes. */
  async *groups(): AsyncGenerator<readonly TableRow[]> {
    let group: TableRow[] = [];
    let held = 0;
    for await (const { rows, bytes } of this.#batches()) {
      for (const { labels, properties, geometry } of rows) {
        group.push({
          geometry:
            geometry instanceof Uint8Array ? (JSON.parse(Buffer.from(geometry).toString()) as Geometry) : geometry,
          cells: [...cellsOf(this.#labels, labels), ...cellsOf(this.#properties, properties)],
        });
      }
      held += bytes;
      if (held < GROUP_BYTES && group.length * (this.#properties.size + 1) < GROUP_CELLS) continue;
      yield group;
      [group, held] = [[], 0];
    }
    if (group.length > 0) yield group;
  }

  async *#batches(): AsyncGenerator<{ readonly rows: readonly UntypedRow[]; readonly bytes: number }> {
    const file = this.#file;
    if (file === undefined) return;
    const read = async (bytes: number, at: number) => (await file.read(Buffer.alloc(bytes), 0, bytes, at)).buffer;
    const { size } = await file.stat();
    for (let at = 0; at < size;) {
      const bytes = (await read(SIZE_BYTES, at)).readUInt32LE();
      yield { rows: deserialize(await read(bytes, at + SIZE_BYTES)) as readonly UntypedRow[], bytes };
      at += SIZE_BYTES + bytes;
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
