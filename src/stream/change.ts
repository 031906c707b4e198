import { CellportError } from '../errors.js';
import { canonicalLng } from '../geo/bounds.js';
import { sumsOf, type CellSums } from '../geo/cell-sums.js';
import { encode } from '../geo/geohash.js';
import { SELF } from '../keys/declarations.js';
import type { Key, Keyspace } from '../keys/keyspace.js';
import { checkPlaceFits, readPlace } from '../keys/place.js';
import { FINEST_STORED, LONGEST_BLOCK } from '../model/cell.js';
import type { Place } from '../model/place.js';
import { markerBytes } from '../store/marker/marker-update.js';
import type { Contender } from '../store/source/winners.js';

/** An attribute as DynamoDB writes it: its type, then its value. */
export type WireValue = Readonly<Record<string, unknown>>;
export type WireImage = Readonly<Record<string, WireValue | undefined>>;

/** The relevant parts of a stream record; images and keys stay in wire format. */
export interface StreamRecord {
  readonly sequence: string;
  readonly event: string;
  /** Time of the change, in milliseconds since 1970, to the second. */
  readonly at: number;
  readonly keys: WireImage;
  /** The item before and after; undefined if it did not exist. */
  readonly before: WireImage | undefined;
  readonly after: WireImage | undefined;
  /**
   * If it has changed why the item of a table of others is no marker: the reason, empty if it is one or gone; its keys; and
   * how many more such items there are.
   */
  readonly fault?: { readonly reason: string; readonly keys: WireImage; readonly more: number } | undefined;
  /** If several items of a table of others may be the marker: what happened to this one. The record has no keys then. */
  readonly contentions?: readonly Contention[] | undefined;
}

/** What a record changes in who contends for a marker of a table of others. */
export interface Contention extends Pick<StreamRecord, 'sequence' | 'at'> {
  /** The marker's key. */
  readonly key: string;
  /** The primary key of the item, as in `Contender`. */
  readonly item: string;
  readonly before: Contender | undefined;
  readonly after: Contender | undefined;
}

/** What one image of a marker adds to the counts of its cell, its place, and all that contain them, and to the collection's size. */
export interface Contribution {
  /** Geohash of the finest stored cell. */
  readonly cell: string;
  readonly sums: CellSums;
  /** Empty if the marker has no place. */
  readonly place: Place;
  readonly bytes: number;
}

/** What a record changes. */
export interface RecordChange {
  /** The collection's scope and the marker's key; undefined if the item's key cannot be understood. */
  readonly scope: string | undefined;
  readonly key: string | undefined;
  readonly before: Contribution | undefined;
  readonly after: Contribution | undefined;
  /** The reason why the item's current state cannot be understood; undefined if it can. */
  readonly fault: string | undefined;
}

/** Whether a sequence number follows another. They are decimal and may differ in length. */
export function isAfter(sequence: string, other: string): boolean {
  return BigInt(sequence) > BigInt(other);
}

/**
 * Identifies the function from images to the counts of cells and places. A batch in progress is folded again after a
 * crash and must give the same result, so change this name whenever you change what an image contributes, or how that is
 * stored. Sizes are left out: how many markers they are of tells which collections an earlier release has not measured.
 */
export const DERIVED_FORMAT = `blocks-${LONGEST_BLOCK}.3`;

const textValue = (value: WireValue | undefined) => (typeof value?.['S'] === 'string' ? value['S'] : undefined);

/** A number of degrees from `-most` to `most`; undefined for anything else. */
export function degrees(value: WireValue | undefined, most: number): number | undefined {
  const text = value?.['N'];
  if (typeof text !== 'string') return undefined;
  const number = Number(text);
  return number >= -most && number <= most ? number : undefined;
}

/**
 * The contribution of a marker's image. It depends on this image alone, so that a record's effect is `after - before`,
 * and the effects of all records of an item add up to its last image. Returns the reason, as text, if the image is
 * invalid.
 */
export function contributionOf(image: WireImage): Contribution | string {
  const lng = degrees(image['lng'], 180);
  if (lng === undefined) return 'lng is not a number from -180 to 180';
  const lat = degrees(image['lat'], 90);
  if (lat === undefined) return 'lat is not a number from -90 to 90';
  return contributionAt(lng, lat, placeOf(image['place']), markerBytes(image));
}

/** The place of the marker in an image; empty if Cellport could not have written it. */
function placeOf(value: WireValue | undefined): Place {
  const names = value?.['L'];
  if (!Array.isArray(names)) return [];
  try {
    const place = readPlace(
      'place',
      names.map((name: WireValue) => textValue(name)),
    );
    // Otherwise its count would have no key, and the consumer would be stuck.
    checkPlaceFits(place, '');
    return place;
  } catch (error) {
    if (error instanceof CellportError) return [];
    throw error;
  }
}

/** The contribution of a marker at this position and place, with this size. */
export function contributionAt(lng: number, lat: number, place: Place = [], bytes = 0): Contribution {
  return { cell: encode({ lng: canonicalLng(lng), lat }, FINEST_STORED), sums: sumsOf({ lng, lat }), place, bytes };
}

/** The key in an image; undefined if it has none of texts. */
export function keyIn({ pk: { S: pk } = {}, sk: { S: sk } = {} }: WireImage): Key | undefined {
  return typeof pk === 'string' && typeof sk === 'string' ? { pk, sk } : undefined;
}

/** The scope and key of the marker that an image's key names; undefined for other items. */
export function markerNamed(keys: Keyspace, image: WireImage): ReturnType<Keyspace['parseMarker']> {
  const key = keyIn(image);
  return key && keys.parseMarker(key);
}

/**
 * The changes of a record to the counts; undefined for items other than markers (collections, readings, foreign ones).
 */
export function changeOf(keys: Keyspace, record: StreamRecord): RecordChange | undefined {
  const key = keyIn(record.keys);
  if (key === undefined) return undefined;
  const marker = keys.parseMarker(key);
  if (marker === undefined) {
    // Readings and other items share a marker's partition; an item with a marker's sort key must be a marker.
    if (key.sk !== SELF || !keys.isUnderMarker(key)) return undefined;
    return {
      scope: undefined,
      key: undefined,
      before: undefined,
      after: undefined,
      fault: 'its key is not a valid marker key',
    };
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
