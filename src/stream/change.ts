import { CellportError } from '../errors.js';
import { type CellSums, sumsOf } from '../geo/cell-sums.js';
import { encode } from '../geo/geohash.js';
import { canonicalLng } from '../geo/point.js';
import { SELF } from '../keys/declarations.js';
import type { Keyspace } from '../keys/keyspace.js';
import { checkPlaceFits, readPlace } from '../keys/place.js';
import { LONGEST_BLOCK } from '../model/cell.js';
import type { Place } from '../model/place.js';

/** One attribute as DynamoDB writes it: its type, then its value. */
export type WireValue = Readonly<Record<string, unknown>>;
export type WireImage = Readonly<Record<string, WireValue | undefined>>;

/** What is looked at in a record of the stream; images and keys stay in wire format. */
export interface StreamRecord {
  readonly sequence: string;
  readonly event: string;
  /** When it was made, in milliseconds since 1970, to the second. */
  readonly at: number;
  readonly keys: WireImage;
  /** The item before and after; undefined where it was not there. */
  readonly before: WireImage | undefined;
  readonly after: WireImage | undefined;
}

/** What one image of a marker adds to the counts: it stands in this cell and at this place, and in all around them. */
export interface Contribution {
  /** Geohash of the finest stored cell. */
  readonly cell: string;
  readonly sums: CellSums;
  /** Empty if the marker has no place. */
  readonly place: Place;
}

/** What a record changes. */
export interface RecordChange {
  /** The collection as keys name it, and the marker's key; undefined if the item's key cannot be understood. */
  readonly scope: string | undefined;
  readonly key: string | undefined;
  readonly before: Contribution | undefined;
  readonly after: Contribution | undefined;
  /** Why the item cannot be understood as it stands now; undefined where it can. */
  readonly fault: string | undefined;
}

/** Whether a sequence number follows another. They are decimal and may differ in length. */
export function isAfter(sequence: string, other: string): boolean {
  return BigInt(sequence) > BigInt(other);
}

/** Length of the cells that the longest blocks hold. */
export const LEAF_LENGTH = LONGEST_BLOCK + 1;

/**
 * Names the function from images to the counts of cells and places. Batches that are under way are folded again after a crash and must come out
 * the same, so whoever changes what an image contributes changes this name too.
 */
export const LAYOUT = `blocks-${LONGEST_BLOCK}.2`;

const textOf = (value: WireValue | undefined) => (typeof value?.['S'] === 'string' ? value['S'] : undefined);

/** A number of degrees, at most so many either way; undefined for everything else. */
export function degrees(value: WireValue | undefined, most: number): number | undefined {
  const text = value?.['N'];
  if (typeof text !== 'string') return undefined;
  const number = Number(text);
  return number >= -most && number <= most ? number : undefined;
}

/**
 * What an image of a marker contributes: a function of this image alone, so that a record's effect is `after - before`
 * and the effects of all records of an item add up to its last image. A text where the image is no marker's.
 */
export function contributionOf(image: WireImage): Contribution | string {
  const lng = degrees(image['lng'], 180);
  if (lng === undefined) return 'lng is no number from -180 to 180';
  const lat = degrees(image['lat'], 90);
  if (lat === undefined) return 'lat is no number from -90 to 90';
  return contributionAt(lng, lat, placeOf(image['place']));
}

/** Where an image says that its marker hangs; nowhere, where Cellport could not have written it. */
function placeOf(value: WireValue | undefined): Place {
  const names = value?.['L'];
  if (!Array.isArray(names)) return [];
  try {
    const place = readPlace(
      'place',
      names.map((name: WireValue) => textOf(name)),
    );
    // Else there would be no key for its count, and the stream would stand still.
    checkPlaceFits(place, '');
    return place;
  } catch (error) {
    if (error instanceof CellportError) return [];
    throw error;
  }
}

/** What a marker at this position and place contributes. */
export function contributionAt(lng: number, lat: number, place: Place = []): Contribution {
  return { cell: encode({ lng: canonicalLng(lng), lat }, LEAF_LENGTH), sums: sumsOf({ lng, lat }), place };
}

/** What a record means to the counts; undefined for items that are no markers (collections, readings, foreign ones). */
export function changeOf(
  keys: Pick<Keyspace, 'parseMarker' | 'isUnderMarker'>,
  record: StreamRecord,
): RecordChange | undefined {
  const pk = textOf(record.keys['pk']);
  const sk = textOf(record.keys['sk']);
  if (pk === undefined || sk === undefined) return undefined;
  const marker = keys.parseMarker({ pk, sk });
  if (marker === undefined) {
    // Readings and the like stand under a marker too, and are none; an item that claims to be one and is not is a fault.
    if (sk !== SELF || !keys.isUnderMarker({ pk, sk })) return undefined;
    return { scope: undefined, key: undefined, before: undefined, after: undefined, fault: 'its key is no marker’s' };
  }
  const before = record.before === undefined ? undefined : contributionOf(record.before);
  const after = record.after === undefined ? undefined : contributionOf(record.after);
  return {
    ...marker,
    before: typeof before === 'string' ? undefined : before,
    after: typeof after === 'string' ? undefined : after,
    fault: typeof after === 'string' ? after : undefined,
  };
}
