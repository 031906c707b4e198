import { isDeepStrictEqual } from 'node:util';

import { areaContains, canonicalLng, type Area, type Point } from '../geo/bounds.js';
import { markerId } from '../keys/ids.js';
import { GEO_ATTRIBUTES } from '../keys/indexes.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import { withoutHidden } from '../model/grant.js';
import type { MapMarker, Marker, Properties } from '../model/marker.js';
import { collectionFromItem } from '../store/collection/collection-item.js';
import { shownValues } from '../store/reading/reading-item.js';
import { itemOfImage } from '../store/request/wire.js';
import { degrees, type StreamRecord, type WireImage } from '../stream/change.js';
import { formerImage, hasInRows, markerIn } from './images.js';

/** What happened to a marker, relative to a rectangle if there is one. */
export type ChangeKind = 'CREATED' | 'UPDATED' | 'MOVED' | 'DELETED' | 'ENTERED' | 'LEFT';

/** A change of a marker as sent to clients. */
export interface MarkerChange {
  readonly kind: ChangeKind;
  readonly id: string;
  /** Of a source, what maps draw. */
  readonly marker: MapMarker | Marker | null;
  readonly previous: Point | null;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** Sequence number of the record, with leading zeros: grows with each change of a marker. */
  readonly sequence: string;
}

/** A reading as sent to clients. */
export interface RecordedReading {
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly values: Properties;
}

interface Event {
  /** The scope of the collection in keys, and the marker's key. */
  readonly scope: string;
  readonly key: string;
  /** Time of the write in milliseconds since 1970, truncated to the second or the minute. */
  readonly at: number;
  /** The item after the change. */
  readonly image: WireImage | undefined;
}

/** The position of a marker before and after a change; undefined if it did not exist. */
export interface Move {
  readonly before: Point | undefined;
  readonly after: Point | undefined;
}

/** A record of a marker. */
export interface MarkerEvent extends Event, Move {
  readonly type: 'marker';
  readonly sequence: string;
  /** Time of the marker's creation, RFC 3339; undefined if its item has none. */
  readonly createdAt: string | undefined;
  /** What rules test of the item before the change, unless that is what it is after it; and when that was written. */
  readonly former: WireImage | undefined;
  readonly formerAt: string | undefined;
}

/** A record of a reading that was stored. */
export interface ReadingEvent extends Event {
  readonly type: 'reading';
  readonly instant: string;
}

export type LiveEvent = MarkerEvent | ReadingEvent;

const textAttribute = (image: WireImage, name: string) => {
  const text = image[name]?.['S'];
  return typeof text === 'string' ? text : undefined;
};

/** The position of a marker in an image. An invalid position counts as no marker, as in the cells. */
function positionIn(image: WireImage | undefined): Point | undefined {
  const lng = degrees(image?.['lng'], 180);
  const lat = degrees(image?.['lat'], 90);
  return lng === undefined || lat === undefined ? undefined : { lng, lat };
}

/** Whether two images of a marker differ only in how it is indexed, as when its collection's layout changes. */
function isSameContent(old: WireImage, image: WireImage): boolean {
  // Cellport raises the version with every other change.
  if (old['version']?.['N'] !== image['version']?.['N']) return false;
  // Where not all properties are in `m`, they are in `properties`, but for sources.
  const derived = image['properties'] !== undefined ? [...GEO_ATTRIBUTES, 'm'] : GEO_ATTRIBUTES;
  const names = new Set([...Object.keys(old), ...Object.keys(image)]);
  return [...names].every((name) => derived.includes(name) || isDeepStrictEqual(old[name], image[name]));
}

/** The event in a record that is relevant to clients; undefined if there is none. */
export function eventOf(
  keys: Keyspace,
  { keys: named, at, sequence, before: old, after: image }: StreamRecord,
): LiveEvent | undefined {
  const pk = textAttribute(named, 'pk');
  const sk = textAttribute(named, 'sk');
  if (pk === undefined || sk === undefined) return undefined;
  const marker = keys.parseMarker({ pk, sk });
  if (marker !== undefined) {
    const before = positionIn(old);
    const after = positionIn(image);
    if (before === undefined && after === undefined) return undefined;
    if (old !== undefined && image !== undefined && isSameContent(old, image)) return undefined;
    const createdAt = textAttribute(image ?? old ?? {}, 'createdAt');
    const former = before === undefined ? undefined : formerImage(old, after && image);
    const formerAt = textAttribute(old ?? {}, 'updatedAt');
    return { type: 'marker', ...marker, at, before, after, sequence, createdAt, image, former, formerAt };
  }
  const reading = image === undefined ? undefined : keys.parseReading({ pk, sk });
  return reading && { type: 'reading', ...reading, at, image };
}

/** The collection that a record shows to be deleted, or replaced by another with the same key. */
export function deletedCollection(keys: Keyspace, { before, after }: StreamRecord): Collection | undefined {
  const was = before && collectionFromItem(keys, itemOfImage(before));
  const is = after && collectionFromItem(keys, itemOfImage(after));
  return was?.createdAt === is?.createdAt ? undefined : was;
}

/** Whether a record says anything to subscribers. */
export const isTold = (keys: Keyspace, record: StreamRecord): boolean =>
  eventOf(keys, record) !== undefined || deletedCollection(keys, record) !== undefined;

/** A key is free no earlier than 50 s after its collection was deleted; half of that allows for differing clocks. */
const CLOCKS_DIFFER_MS = 25_000;

/** The earliest creation time of markers of a collection that excludes those of a former one with its key. */
export function earliestMarker({ createdAt }: Collection): string {
  const created = Date.parse(createdAt);
  return Number.isNaN(created) ? '' : new Date(created - CLOCKS_DIFFER_MS).toISOString();
}

/** Whether an event's marker was created at this time or later, as far as its item tells. */
export const isSince = ({ createdAt }: MarkerEvent, earliest: string): boolean =>
  createdAt === undefined || createdAt >= earliest;

const isSamePosition = (a: Point, b: Point) => canonicalLng(a.lng) === canonicalLng(b.lng) && a.lat === b.lat;

/** The kind of a change relative to a rectangle, or to the whole globe; undefined if the change is irrelevant. */
export function changeKind({ before, after }: Move, area?: Area): ChangeKind | undefined {
  const inside = (point: Point) => area === undefined || areaContains(area, point);
  if (before === undefined) return after !== undefined && inside(after) ? 'CREATED' : undefined;
  if (after === undefined) return inside(before) ? 'DELETED' : undefined;
  const [was, is] = [inside(before), inside(after)];
  if (!was && !is) return undefined;
  if (was !== is) return is ? 'ENTERED' : 'LEFT';
  return isSamePosition(before, after) ? 'UPDATED' : 'MOVED';
}

/** The move of a marker as far as it is in the principal's rows: outside of them, there is none. */
function seenMove(keys: Keyspace, event: MarkerEvent, collection: Collection): Move {
  if (collection.grant?.rows === undefined) return event;
  const { before, after, image, former = image, formerAt } = event;
  return {
    before: before && hasInRows(keys, former, collection, formerAt) ? before : undefined,
    after: after && hasInRows(keys, image, collection) ? after : undefined,
  };
}

/** The most that a sequence number has. With leading zeros, their order is that of their texts. */
const SEQUENCE_DIGITS = 40;

/**
 * The change sent to a client for an event, in an area if one is given; undefined if it is irrelevant, or of markers outside
 * the principal's rows. One that enters the rows has no previous position, and of one that leaves them, only this is told.
 */
export function markerChange(
  keys: Keyspace,
  event: MarkerEvent,
  collection: Collection,
  area?: Area,
): MarkerChange | undefined {
  const { before, after } = seenMove(keys, event, collection);
  const kind = changeKind({ before, after }, area);
  if (kind === undefined) return undefined;
  const exists = event.before !== undefined && event.after !== undefined;
  const marker = after === undefined ? null : markerIn(keys, event.image, collection.key);
  return {
    kind: exists && kind === 'CREATED' ? 'ENTERED' : exists && kind === 'DELETED' ? 'LEFT' : kind,
    id: markerId(collection.key, event.key),
    marker: marker && withoutHidden(collection, marker),
    previous: before ?? null,
    at: new Date(event.at).toISOString(),
    sequence: event.sequence.padStart(SEQUENCE_DIGITS, '0'),
  };
}

/** A reading as stored; undefined if it has expired by `now` (milliseconds since 1970) or is invalid. */
export function recordedReading({ instant, image = {} }: ReadingEvent, now: number): RecordedReading | undefined {
  const { values, ttl } = itemOfImage(image);
  if (typeof values !== 'object' || values === null || Number.isNaN(Date.parse(instant))) return undefined;
  if (typeof ttl === 'number' && ttl * 1_000 <= now) return undefined;
  return { at: instant, values: shownValues(values) };
}

/**
 * The incarnation of a reading's marker: a marker created again under the same key has none of the former one's
 * readings.
 */
export function incarnationOf({ image = {} }: ReadingEvent): string | undefined {
  return textAttribute(image, 'of');
}

/** The approximate memory of an event, in bytes. */
export function eventBytes(event: LiveEvent): number {
  const former = event.type === 'marker' ? event.former : undefined;
  return [event.image, former].reduce((sum, image) => sum + (image ? wireBytes(image) : 0), 400 + event.key.length);
}

function wireBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 16;
  let bytes = 32;
  for (const name in value) bytes += 16 + name.length + wireBytes((value as Record<string, unknown>)[name]);
  return bytes;
}
