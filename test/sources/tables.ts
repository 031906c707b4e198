import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { TableKeyAttribute } from '../../src/model/collection.js';
import type { Item, Mapping } from '../../src/sources/mapping.js';
import { compareNewest, type MappedItem } from '../../src/sources/marker.js';
import { markerOf } from './marker-of.js';

const FOLDER = join(import.meta.dirname, 'tables');

/** A table of other people: its design is real, its values are invented. */
export interface ForeignTable {
  readonly id: string;
  readonly name: string;
  readonly key: readonly TableKeyAttribute[];
  readonly items: readonly Item[];
  readonly markers: readonly {
    readonly key: string;
    readonly lng: number;
    readonly lat: number;
    readonly name: string | null;
  }[];
  /** The mapping in its file. */
  readonly mapping: unknown;
}

/** Items are as the store reads them: integers of more than 53 bits are bigints. */
function itemValue(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { $set: set, $binary: binary, $integer: integer } = value as Record<string, unknown>;
  if (Array.isArray(set)) return new Set(set);
  if (typeof binary === 'string') return new Uint8Array(Buffer.from(binary, 'base64'));
  return typeof integer === 'string' ? BigInt(integer) : value;
}

function readTable(file: string): ForeignTable {
  const text = readFileSync(join(FOLDER, file), 'utf8').replaceAll(/(?<=": )\d{16,}(?=,?\n)/g, '{"$integer":"$&"}');
  const { table, items, markers } = JSON.parse(text, itemValue) as {
    table: {
      TableName: string;
      KeySchema: { AttributeName: string }[];
      AttributeDefinitions: { AttributeName: string; AttributeType: TableKeyAttribute['type'] }[];
    };
    items: Item[];
    markers: ForeignTable['markers'];
  };
  const typeOf = (name: string) =>
    table.AttributeDefinitions.find((each) => each.AttributeName === name)?.AttributeType ?? 'S';
  return {
    id: file.slice(0, 2),
    name: table.TableName,
    key: table.KeySchema.map(({ AttributeName: name }) => ({ name, type: typeOf(name) })),
    items,
    markers,
    mapping: JSON.parse(readFileSync(join(FOLDER, file.replace('.json', '.mapping.json')), 'utf8')),
  };
}

export const TABLES = readdirSync(FOLDER)
  .filter((file) => !file.endsWith('.mapping.json'))
  .map(readTable);

/** When the items of these tables expire. */
export const NOW = Date.parse('2026-03-01T12:00:00Z');

/** What a map shows of some items: for each key, the newest item counts. */
export function shown(mapping: Mapping, items: readonly Item[]) {
  const newest = new Map<string, Exclude<MappedItem, { kind: 'other' }>>();
  for (const item of items) {
    const read = markerOf(mapping, item, NOW);
    if (read.kind === 'other' || read.key === undefined) continue;
    const known = newest.get(read.key);
    if (!known || compareNewest(read.newest, known.newest) >= 0) newest.set(read.key, read);
  }
  return [...newest.values()].filter((each) => each.kind === 'marker');
}
