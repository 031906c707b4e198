import type { Marker } from '../../model/marker.js';
import type { TableFormat } from './export-format.js';
import type { WholeZone } from './read-zones.js';
import { markerRow, Table, zoneRow, type UntypedRow } from './table.js';

/** What writes a format; loaded when it is needed. */
const WRITERS = {
  flatgeobuf: async () => (await import('./flatgeobuf.js')).flatGeobuf,
  geoparquet: async () => (await import('./geoparquet.js')).geoParquet,
} as const;

async function* write(
  format: TableFormat,
  rows: AsyncIterable<readonly UntypedRow[]>,
  isPoints: boolean,
): AsyncGenerator<Buffer> {
  const table = await Table.of(rows, isPoints);
  try {
    yield* (await WRITERS[format]())(table);
  } finally {
    await table.close();
  }
}

async function* rowsOf<T>(some: AsyncIterable<T>, rows: (value: T) => readonly UntypedRow[]) {
  for await (const value of some) yield rows(value);
}

/** The bytes of a file of markers, in pieces. Throws LIMIT_EXCEEDED for more properties than a table can have. */
export function writeMarkerTable(format: TableFormat, markers: AsyncIterable<readonly Marker[]>) {
  const rows = rowsOf(markers, (some) => some.map(markerRow));
  return write(format, rows, true);
}

/** The same of zones. */
export function writeZoneTable(format: TableFormat, zones: AsyncIterable<WholeZone>) {
  const rows = rowsOf(zones, (zone) => [zoneRow(zone)]);
  return write(format, rows, false);
}
