import { ByteWriter, geojsonToWkb, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';

import type { Table } from './table.js';

const TYPES = { number: 'DOUBLE', boolean: 'BOOLEAN', string: 'STRING', json: 'STRING' } as const;
const GEOMETRY = 'geometry';

/** What GeoParquet 1.1 says of a file whose coordinates are longitude and latitude. */
const metadata = ({ isPoints }: Table) => ({
  version: '1.1.0',
  primary_column: GEOMETRY,
  columns: { [GEOMETRY]: { encoding: 'WKB', geometry_types: isPoints ? ['Point'] : [] } },
});

/** A GeoParquet file, in pieces, each of a row group. */
export async function* geoParquet(table: Table): AsyncGenerator<Buffer> {
  const columns = table.columns().map(({ name, type }) => ({ name, type: TYPES[type] }));
  const geometry = { name: GEOMETRY, type: 'BYTE_ARRAY', nullable: false, statistics: false } as const;
  const columnData = [geometry, ...columns].map((column) => ({ ...column, data: [] }));
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaFromColumnData({ columnData }),
    kvMetadata: [{ key: 'geo', value: JSON.stringify(metadata(table)) }],
    createdBy: 'cellport',
  });
  const written = () => {
    const piece = Buffer.from(bytes.getBytes());
    bytes.index = 0;
    return piece;
  };
  for await (const rows of table.groups()) {
    // A copy, because the writer's own buffer has a kilobyte.
    const shapes = rows.map((row) => geojsonToWkb(row.geometry).slice());
    await writer.write({
      columnData: [
        { ...geometry, data: shapes },
        ...columns.map((column, at) => ({ ...column, data: rows.map(({ cells }) => cells[at] ?? null) })),
      ],
      rowGroupSize: rows.length,
    });
    yield written();
  }
  await writer.finish();
  yield written();
}
