import { writeExactly } from '../../model/exact-json.js';
import type { Marker, Properties } from '../../model/marker.js';
import type { FileFormat } from '../read/file-format.js';
import { EXPORTED_COLUMNS, quotedLabel } from '../rows/exported-csv.js';
import { findFields, LABEL_NAMES, OWN_MEMBER } from '../rows/fields.js';
import type { WholeZone } from './read-zones.js';

/** Whether a property has a name from which a label would be read. */
const hasLabel = (properties: Properties) => Object.keys(findFields(Object.keys(properties), LABEL_NAMES)).length > 0;

/**
 * A marker as an RFC 7946 Feature that `markerOfFeature` reads back unchanged. Name, category and place are among its
 * properties, where other programs expect them; if that would be ambiguous, they are in a separate member.
 */
function featureOf({ key, position, name, category, place, properties }: Marker) {
  const geometry = { type: 'Point', coordinates: [position.lng, position.lat] } as const;
  const labels = {
    ...(name === null ? {} : { name }),
    ...(category === null ? {} : { category }),
    ...(place.length === 0 ? {} : { place }),
  };
  const ambiguous = name === '' || category === '' || hasLabel(properties);
  if (ambiguous) return { type: 'Feature', id: key, geometry, properties, [OWN_MEMBER]: labels } as const;
  return { type: 'Feature', id: key, geometry, properties: { ...labels, ...properties } } as const;
}

/** A cell of a table, quoted as in RFC 4180 if needed. */
function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A marker as a line of CSV. */
function tableRow({ key, position, name, category, place, properties }: Marker, escapes: boolean): string {
  const cells = [
    quotedLabel(key, escapes),
    String(position.lng),
    String(position.lat),
    quotedLabel(name, escapes),
    quotedLabel(category, escapes),
    place.length === 0 ? '' : JSON.stringify(place),
    Object.keys(properties).length === 0 ? '' : writeExactly(properties),
  ];
  return cells.map(cell).join(',');
}

/**
 * A zone as an RFC 7946 Feature that `import` reads back unchanged. The text of its geometry, often megabytes, is copied
 * and not parsed.
 */
function zoneText({ zone: { key, name, properties }, geometry }: WholeZone): string {
  const ambiguous = name === '' || hasLabel(properties);
  const labels = name === null ? {} : { name };
  const rest = ambiguous ? { properties, [OWN_MEMBER]: labels } : { properties: { ...labels, ...properties } };
  const members = writeExactly(rest).slice(1);
  return `{"type":"Feature","id":${JSON.stringify(key)},"geometry":${geometry.toString()},${members}`;
}

/** The text of a file around its rows. */
interface Frame {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
}

const FRAMES: Readonly<Record<FileFormat, Frame>> = {
  geojson: { head: '{"type":"FeatureCollection","features":[\n', between: ',\n', tail: ']}\n' },
  ndjson: { head: '', between: '\n', tail: '' },
  csv: { head: `${EXPORTED_COLUMNS.join(',')}\n`, between: '\n', tail: '' },
};

async function* framed(format: FileFormat, rows: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  const { head, between, tail } = FRAMES[format];
  if (head !== '') yield head;
  let any = false;
  for await (const some of rows) {
    if (some.length === 0) continue;
    yield (any ? between : '') + some.join(between);
    any = true;
  }
  if (any || tail !== '') yield (any ? '\n' : '') + tail;
}

async function* textsOf<T>(some: AsyncIterable<T>, texts: (value: T) => readonly string[]) {
  for await (const value of some) yield texts(value);
}

/**
 * The text of a file of markers, in pieces, that `import` reads back unchanged: GeoJSON or NDJSON with one feature per
 * line, or CSV with EXPORTED_COLUMNS, in which `escapes` quotes what spreadsheets would take for formulas.
 */
export function writeMarkers(
  format: FileFormat,
  markers: AsyncIterable<readonly Marker[]>,
  escapes = false,
): AsyncGenerator<string> {
  const row = (marker: Marker) => (format === 'csv' ? tableRow(marker, escapes) : writeExactly(featureOf(marker)));
  return framed(
    format,
    textsOf(markers, (some) => some.map(row)),
  );
}

/** The text of a file of zones, in pieces, with one feature per line, that `import` reads back unchanged. */
export function writeZones(
  format: Exclude<FileFormat, 'csv'>,
  zones: AsyncIterable<WholeZone>,
): AsyncGenerator<string> {
  return framed(
    format,
    textsOf(zones, (zone) => [zoneText(zone)]),
  );
}
