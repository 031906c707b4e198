import { z } from 'zod';

import type { Point } from '../../geo/bounds.js';
import { HALF_AROUND } from '../../geo/circle.js';
import { distance } from '../../geo/distance.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import type { MarkerFilter } from '../../model/grant.js';
import type { MapMarker } from '../../model/marker.js';
import { jsonIn } from '../../read/cursor.js';

/** A position in the order of distance from a center, then of keys by their bytes. */
export interface NearPosition {
  /** In meters. */
  readonly distance: number;
  /** '' precedes all markers at that distance, null follows them. */
  readonly key: string | null;
}

/** A marker at its position in the order. */
export interface NearMarker extends NearPosition {
  readonly key: string;
  readonly marker: MapMarker;
}

/** A marker with its great-circle distance from a center. */
export function nearMarker(center: Point, marker: MapMarker): NearMarker {
  return { distance: distance(center, marker.position), key: marker.key, marker };
}

/** The start of every list by distance. */
export const BEGIN: NearPosition = { distance: 0, key: '' };

/** Compares positions; negative if the first one precedes the second. */
export function compareNear(a: NearPosition, b: NearPosition): number {
  if (a.distance !== b.distance) return a.distance - b.distance;
  if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
  return compareBytes(a.key, b.key);
}

/** A marker that a scan has found but not emitted yet. */
export interface Pending extends NearPosition {
  readonly key: string;
  /** Its position in index order. */
  readonly indexPosition: string;
}

/**
 * The state of scanning a ring that takes more reads than a connection allows. The scan proceeds over several
 * connections in index order and keeps the nearest markers found: nothing can be emitted before the whole ring is
 * scanned.
 */
export interface RingScan {
  /** The end of the ring. It moves inwards if more markers are found than a cursor can hold. */
  readonly upTo: NearPosition;
  /** The position in index order up to which the ring is scanned; '' at the beginning, null at the end. */
  readonly scanned: string | null;
  /** Sorted by distance, then key. */
  readonly pending: readonly Pending[];
}

/** Where a list by distance resumes, as stored in its cursors. */
export interface NearCursor {
  readonly resumeAfter: NearPosition;
  /** The ring being scanned. */
  readonly scan?: RingScan | undefined;
  /** Maximum width of the next ring in meters, if nothing else is known. */
  readonly width?: number | undefined;
}

/** Which part of a list by distance is read. */
export interface RingQuery {
  readonly center: Point;
  /** In meters, at most half the circumference of the globe. */
  readonly radius: number;
  /** Where it starts. */
  readonly cursor: NearCursor;
  readonly wanted: number;
  readonly budget: Budget;
}

/** The same of a stored collection. */
export interface NearQuery extends RingQuery {
  readonly collection: Collection;
  readonly filter: MarkerFilter | undefined;
}

export interface NearResult {
  /** Nearest first. */
  readonly found: readonly NearMarker[];
  /** Where the list resumes after all found markers; undefined if nothing is left. */
  readonly rest: NearCursor | undefined;
  /** Maximum width of the next ring, if a connection ends before. */
  readonly width?: number;
}

const meters = z.number().min(0).max(HALF_AROUND);
const positionShape = z
  .tuple([meters, z.string().nullable()])
  .transform(([far, key]): NearPosition => ({ distance: far, key }));
const pendingShape = z
  .tuple([meters, z.string(), z.string()])
  .transform(([far, key, indexPosition]): Pending => ({ distance: far, key, indexPosition }));
const scanShape = z
  .tuple([positionShape, z.string().nullable(), z.array(pendingShape)])
  .transform(([upTo, scanned, pending]): RingScan => ({ upTo, scanned, pending }));
const cursorShape = z
  .tuple([positionShape, scanShape.nullable(), meters.nullable()])
  .transform(([resumeAfter, scan, width]) => ({ resumeAfter, scan: scan ?? undefined, width: width ?? undefined }));

const toPair = ({ distance: far, key }: NearPosition) => [far, key] as const;

/** Formats where a list resumes, for a cursor. */
export function formatNearCursor({ resumeAfter, scan, width }: NearCursor): string {
  const pending = scan?.pending.map((one) => [...toPair(one), one.indexPosition]);
  return JSON.stringify([toPair(resumeAfter), scan ? [toPair(scan.upTo), scan.scanned, pending] : null, width ?? null]);
}

/** Parses such a text; undefined for any other text. `isPosition` recognizes positions in index order. */
export function parseNearCursor(text: string, isPosition: (text: string) => boolean): NearCursor | undefined {
  const cursor = cursorShape.safeParse(jsonIn(text)).data;
  const { scanned, pending = [] } = cursor?.scan ?? {};
  const positions = [...(scanned ? [scanned] : []), ...pending.map(({ indexPosition }) => indexPosition)];
  return positions.every(isPosition) ? cursor : undefined;
}
