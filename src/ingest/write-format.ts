import type { Marker } from '../model/marker.js';
import { writeExactly } from './exact-json.js';
import type { FileFormat } from './read-file.js';
import { OWN_MEMBER } from './row.js';
import { OWN_COLUMNS, quotedLabel } from './own-table.js';

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

/** A marker as a line of a table with OWN_COLUMNS. */
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

/** How a file is put together from the texts of its rows. */
interface Frame {
  readonly head: string;
  readonly row: (marker: Marker) => string;
  /** Stands between two rows. */
  readonly between: string;
  /** Stands after the last row, where there is one. */
  readonly end: string;
  readonly tail: string;
}

const feature = (marker: Marker): string => writeExactly(featureOf(marker));

const FRAMES: Readonly<Record<FileFormat, Frame>> = {
  geojson: {
    head: '{"type":"FeatureCollection","features":[\n',
    row: feature,
    between: ',\n',
    end: '\n',
    tail: ']}\n',
  },
  ndjson: { head: '', row: feature, between: '\n', end: '\n', tail: '' },
  csv: { head: `${OWN_COLUMNS.join(',')}\n`, row: tableRow, between: '\n', end: '\n', tail: '' },
};

/**
 * A file of markers, piece by piece: GeoJSON with a feature a line, NDJSON with a feature a line, or CSV with the columns
 * OWN_COLUMNS. `import` makes the same markers of it.
 */
export async function* writeMarkers(
  format: FileFormat,
  markers: AsyncIterable<readonly Marker[]>,
): AsyncGenerator<string> {
  const { head, row, between, end, tail } = FRAMES[format];
  if (head !== '') yield head;
  let any = false;
  for await (const some of markers) {
    if (some.length === 0) continue;
    yield (any ? between : '') + some.map(row).join(between);
    any = true;
  }
  if (any || tail !== '') yield (any ? end : '') + tail;
}
