import { magicbytes } from 'flatgeobuf/lib/mjs/constants.js';
import { ColumnType } from 'flatgeobuf/lib/mjs/flat-geobuf/column-type.js';
import { GeometryType } from 'flatgeobuf/lib/mjs/flat-geobuf/geometry-type.js';
import { buildFeature } from 'flatgeobuf/lib/mjs/generic/feature.js';
import { buildHeader } from 'flatgeobuf/lib/mjs/generic/featurecollection.js';
import { parseGeometry } from 'flatgeobuf/lib/mjs/geojson/geometry.js';

import type { Cell, Table } from './table.js';

const TYPES = {
  number: ColumnType.Double,
  boolean: ColumnType.Bool,
  string: ColumnType.String,
  json: ColumnType.String,
} as const;
const WGS84 = 4326;

/** A FlatGeobuf, in pieces. It has no spatial index, which would precede the features and need all of them in memory. */
export async function* flatGeobuf(table: Table): AsyncGenerator<Buffer> {
  const columns = table.columns().map(({ name, type }) => ({
    name,
    type: TYPES[type],
    title: null,
    description: null,
    width: -1,
    precision: -1,
    scale: -1,
    nullable: true,
    unique: false,
    primary_key: false,
  }));
  const header = {
    geometryType: table.isPoints ? GeometryType.Point : GeometryType.Unknown,
    columns,
    envelope: null,
    featuresCount: table.count,
    indexNodeSize: 0,
    crs: null,
    title: null,
    description: null,
    metadata: null,
  };
  yield Buffer.concat([magicbytes, buildHeader(header, WGS84)]);
  for await (const rows of table.groups()) {
    const features = rows.map(({ geometry, cells }) => {
      // A property may be called `__proto__`.
      const values = Object.create(null) as Record<string, Cell>;
      for (const [at, { name }] of columns.entries()) values[name] = cells[at] ?? null;
      return buildFeature(parseGeometry(geometry as Parameters<typeof parseGeometry>[0]), values, header);
    });
    yield Buffer.concat(features);
  }
}
