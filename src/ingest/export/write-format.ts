import type { Marker } from '../../model/marker.js';
import { writeExactly } from '../read/exact-json.js';
import type { FileFormat } from '../read/file-format.js';
import type { WholeZone } from './read-zones.js';
import { OWN_MEMBER } from '../read/row.js';
import { EXPORTED_COLUMNS, quotedLabel } from '../markers/exported-csv.js';

/** Properties under which a feature tells what a marker has beside its properties. */
const LABELS = ['name', 'category', 'place'] as const;

/**
 * A marker as an RFC 7946 Feature that `markerOfFeature` reads as the same marker. Its name, category and place stand
 * among its properties, where other programs look for them; where they would be mistaken for something else there, they
 * stand in a member of their own.
 */
export function featureOf({ key, position, name, category, place, properties }: Marker) {
  const geometry = { type: 'Point', coordinates: [position.lng, position.lat] } as const;
  const labels = {
    ...(name === null ? {} : { name }),
    ...(category === null ? {} : { category }),
    ...(place.length === 0 ? {} : { place }),
  };
  const mistaken = name === '' || category === '' || LABELS.some((label) => Object.hasOwn(properties, label));
  if (mistaken) return { type: 'Feature', id: key, geometry, properties, [OWN_MEMBER]: labels } as const;
  return { type: 'Feature', id: key, geometry, properties: { ...labels, ...properties } } as const;
}

/** A cell of a table, quoted as in RFC 4180 where it has to be. */
function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A marker as a line of a table with EXPORTED_COLUMNS. */
function tableRow({ key, position, name, category, place, properties }: Marker): string {
  const cells = [
    key,
    String(position.lng),
    String(position.lat),
    quotedLabel(name),
    quotedLabel(category),
    place.length === 0 ? '' : JSON.stringify(place),
    Object.keys(properties).length === 0 ? '' : writeExactly(properties),
  ];
  return cells.map(cell).join(',');
}

/**
 * A zone as an RFC 7946 Feature that `import` reads as the same zone. Its geometry is put in as it is: whole countries are
 * not parsed to be written.
 */
function zoneText({ zone: { key, name, properties }, geometry }: WholeZone): string {
  const mistaken = name === '' || Object.hasOwn(properties, 'name');
  const labels = name === null ? {} : { name };
  const rest = mistaken ? { properties, [OWN_MEMBER]: labels } : { properties: { ...labels, ...properties } };
  const members = writeExactly(rest).slice(1);
  return `{"type":"Feature","id":${JSON.stringify(key)},"geometry":${geometry.toString()},${members}`;
}

/** How a file is put together from the texts of its rows. */
interface Frame {
  readonly head: string;
  /** Stands between two rows. */
  readonly between: string;
  /** Stands after the last row, where there is one. */
  readonly end: string;
  readonly tail: string;
}

const FRAMES: Readonly<Record<FileFormat, Frame>> = {
  geojson: { head: '{"type":"FeatureCollection","features":[\n', between: ',\n', end: '\n', tail: ']}\n' },
  ndjson: { head: '', between: '\n', end: '\n', tail: '' },
  csv: { head: `${EXPORTED_COLUMNS.join(',')}\n`, between: '\n', end: '\n', tail: '' },
};

/** A file from the texts of its rows, piece by piece. */
async function* framed(format: FileFormat, rows: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  const { head, between, end, tail } = FRAMES[format];
  if (head !== '') yield head;
  let any = false;
  for await (const some of rows) {
    if (some.length === 0) continue;
    yield (any ? between : '') + some.join(between);
    any = true;
  }
  if (any || tail !== '') yield (any ? end : '') + tail;
}

async function* textsOf<T>(some: AsyncIterable<T>, texts: (value: T) => readonly string[]) {
  for await (const value of some) yield texts(value);
}

/**
 * A file of markers, piece by piece: GeoJSON with a feature a line, NDJSON with a feature a line, or CSV with the columns
 * EXPORTED_COLUMNS. `import` makes the same markers of it.
 */
export function writeMarkers(format: FileFormat, markers: AsyncIterable<readonly Marker[]>): AsyncGenerator<string> {
  const row = format === 'csv' ? tableRow : (marker: Marker) => writeExactly(featureOf(marker));
  return framed(
    format,
    textsOf(markers, (some) => some.map(row)),
  );
}

/** A file of zones, piece by piece, with a feature a line. `import` makes the same zones of it. */
export function writeZones(
  format: Exclude<FileFormat, 'csv'>,
  zones: AsyncIterable<WholeZone>,
): AsyncGenerator<string> {
  return framed(
    format,
    textsOf(zones, (zone) => [zoneText(zone)]),
  );
}
