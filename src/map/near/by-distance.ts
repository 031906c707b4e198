import { z } from 'zod';

import { HALF_AROUND } from '../../geo/circle.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { MapMarker } from '../../model/marker.js';

/** A place in the order of distances from a center, then of keys by their bytes. */
export interface Reached {
  /** In metres. */
  readonly distance: number;
  /** '' before all markers at that distance, null after all of them. */
  readonly key: string | null;
}

/** A marker and its great-circle distance from a center, in metres. */
export interface NearMarker {
  readonly distance: number;
  readonly marker: MapMarker;
}

/** Where all lists by distance begin. */
export const BEGIN: Reached = { distance: 0, key: '' };

/** Orders places: less than 0 where the first comes first. */
export function compareReached(a: Reached, b: Reached): number {
  if (a.distance !== b.distance) return a.distance - b.distance;
  if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
  return compareBytes(a.key, b.key);
}

/** Where a marker stands in the order. */
export function reachedBy({ distance, marker: { key } }: NearMarker): Reached {
  return { distance, key };
}

/** Markers in their order. */
export function nearestFirst(markers: readonly NearMarker[]): NearMarker[] {
  return markers.toSorted((a, b) => compareReached(reachedBy(a), reachedBy(b)));
}

/** A marker that a sweep has found and not told yet. */
export interface Kept extends Reached {
  readonly key: string;
  /** Where it stands in the order of its index. */
  readonly place: string;
}

/**
 * A ring that takes more reads than one page may: page by page all of it is looked at in the order of the index, while the
 * nearest of what was found are kept, as nothing can be told before all of the ring is seen.
 */
export interface Sweep {
  /** The end of the ring. It comes nearer where more is found than a cursor can keep. */
  readonly upTo: Reached;
  /** The place in the order of the index up to which the ring is seen; '' at the beginning, null once it is all seen. */
  readonly seen: string | null;
  /** In their order. */
  readonly kept: readonly Kept[];
}

/** How far a list is told, as its cursors hold it. */
export interface Told {
  readonly reached: Reached;
  /** The ring that is being looked at. */
  readonly sweep?: Sweep | undefined;
  /** How wide the next ring may be, in metres, where nothing else tells. */
  readonly width?: number | undefined;
}

const metres = z.number().min(0).max(HALF_AROUND);
const place = z.tuple([metres, z.string().nullable()]);
const sweep = z.tuple([place, z.string().nullable(), z.array(z.tuple([metres, z.string(), z.string()]))]);
const told = z.tuple([place, sweep.nullable(), metres.nullable()]);

const pairOf = ({ distance, key }: Reached) => [distance, key] as const;
const reachedAt = ([distance, key]: z.infer<typeof place>): Reached => ({ distance, key });

/** How far a list is told, as the text in a cursor. */
export function toldText({ reached, sweep: ring, width }: Told): string {
  const kept = ring?.kept.map(({ distance, key, place: at }) => [distance, key, at]);
  return JSON.stringify([pairOf(reached), ring ? [pairOf(ring.upTo), ring.seen, kept] : null, width ?? null]);
}

/** What such a text says; undefined where it is none. `isPlace` says what places in the order of the index are like. */
export function parseTold(text: string, isPlace: (place: string) => boolean): Told | undefined {
  const parsed = told.safeParse(jsonIn(text));
  if (!parsed.success) return undefined;
  const [reached, ring, width] = parsed.data;
  if (!ring) return { reached: reachedAt(reached), width: width ?? undefined };
  const [upTo, seen, found] = ring;
  const kept = found.map(([distance, key, at]) => ({ distance, key, place: at }));
  if (seen && !isPlace(seen)) return undefined;
  if (kept.some((one) => !isPlace(one.place))) return undefined;
  return { reached: reachedAt(reached), sweep: { upTo: reachedAt(upTo), seen, kept }, width: width ?? undefined };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
