import { PbfWriter } from 'pbf';

import { jsonOf } from '../../model/json.js';
import type { Properties } from '../../model/marker.js';

/** A feature of a tile; coordinates are whole units of it. */
export interface TileFeature {
  /** At most 53 bits. */
  readonly id: number;
  /** A point, lines, or the rings of polygons, of which the outer ones go clockwise. */
  readonly type: 1 | 2 | 3;
  readonly geometry: readonly (readonly (readonly [x: number, y: number])[])[];
  readonly properties: Properties;
}

/** A layer of a tile, by name. */
export type TileLayers = Readonly<Record<string, readonly TileFeature[]>>;

const MOVE_TO = 1;
const LINE_TO = 2;
const CLOSE = 7;
const command = (id: number, count: number) => (count << 3) | id;
const zigzag = (value: number) => (value << 1) ^ (value >> 31);

function commandsOf({ type, geometry }: TileFeature): number[] {
  const commands: number[] = [];
  let [x, y] = [0, 0];
  for (const part of geometry) {
    // The last position of a ring is the first.
    const points = type === 3 ? part.slice(0, -1) : part;
    for (const [index, point] of points.entries()) {
      if (index === 0) commands.push(command(MOVE_TO, 1));
      if (index === 1) commands.push(command(LINE_TO, points.length - 1));
      commands.push(zigzag(point[0] - x), zigzag(point[1] - y));
      [x, y] = point;
    }
    if (type === 3) commands.push(command(CLOSE, 1));
  }
  return commands;
}

type Value = string | number | boolean;

/** A value as tiles can have it: lists and objects as JSON, integers beyond a double's as text; undefined for null. */
function valueOf(value: unknown): Value | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'object' ? jsonOf(value) : (value as Value);
}

/** Beyond this, the zigzag form of an integer is not exact. */
const LARGEST = 2 ** 52;

function writeValue(value: Value, pbf: PbfWriter): void {
  // `writeStringField` garbles characters beyond the second plane.
  if (typeof value === 'string') pbf.writeBytesField(1, Buffer.from(value));
  else if (typeof value === 'boolean') pbf.writeBooleanField(7, value);
  else if (!Number.isInteger(value) || Math.abs(value) > LARGEST) pbf.writeDoubleField(3, value);
  else if (value < 0) pbf.writeSVarintField(6, value);
  else pbf.writeVarintField(5, value);
}

interface Layer {
  readonly name: string;
  readonly features: readonly TileFeature[];
  readonly extent: number;
}

function writeLayer({ name, features, extent }: Layer, pbf: PbfWriter): void {
  const values = new Map<Value, number>();
  const columns = new Map<string, { readonly tags: number[]; readonly value: Value }[]>();
  const tagged = features.map((feature) => {
    const tags: number[] = [];
    for (const each of Object.keys(feature.properties)) {
      const value = valueOf(feature.properties[each]);
      if (value === undefined) continue;
      const column = columns.get(each) ?? [];
      columns.set(each, column);
      column.push({ tags, value });
    }
    return { feature, tags };
  });
  // In order, so that equal properties make equal bytes; by column, as like values beside each other compress better.
  const ordered = [...columns].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [number, [, column]] of ordered.entries()) {
    for (const { tags, value } of column) {
      const known = values.get(value) ?? values.size;
      values.set(value, known);
      tags.push(number, known);
    }
  }
  pbf.writeVarintField(15, 2);
  pbf.writeBytesField(1, Buffer.from(name));
  for (const one of tagged) {
    pbf.writeMessage(
      2,
      ({ feature, tags }: typeof one, inner: PbfWriter) => {
        inner.writeVarintField(1, feature.id);
        inner.writePackedVarint(2, tags);
        inner.writeVarintField(3, feature.type);
        inner.writePackedVarint(4, commandsOf(feature));
      },
      one,
    );
  }
  for (const [each] of ordered) pbf.writeBytesField(3, Buffer.from(each));
  for (const value of values.keys()) pbf.writeMessage(4, writeValue, value);
  pbf.writeVarintField(5, extent);
}

/** A Mapbox Vector Tile, version 2, of the layers that have features; no bytes if there are none. */
export function encodeTile(layers: TileLayers, extent: number): Buffer {
  const pbf = new PbfWriter();
  for (const [name, features] of Object.entries(layers)) {
    if (features.length > 0) pbf.writeMessage(3, writeLayer, { name, features, extent });
  }
  return Buffer.from(pbf.finish());
}
