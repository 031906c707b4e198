import type { Point } from '../../geo/point.js';
import type { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import type { MarkerFilter } from '../filter.js';
import type { NearPosition } from './by-distance.js';

/** A radius query. */
export interface NearQuery {
  readonly collection: Collection;
  readonly center: Point;
  /** In metres. */
  readonly radius: number;
  /** Only markers after this position. */
  readonly after?: NearPosition | undefined;
  readonly filter?: MarkerFilter | undefined;
  readonly wanted: number;
  readonly budget: Budget;
  /** Query calls of the budget that only a first ring of the geo index may spend. */
  readonly reserve: number;
}

/** What the next ring around a center must have. */
export interface RingQuestion {
  /** Where it begins. */
  readonly after: NearPosition;
  /** How many markers it should have. */
  readonly goal: number;
  /** Whether a ring was emitted before. */
  readonly emitted: boolean;
}

/** A ring that was read completely. */
export interface ReadRing {
  /** Where it ends, in metres. */
  readonly to: number;
  /** All markers in it, each once, and others beside it. */
  readonly markers: Iterable<MapMarker>;
}

/** Reads the rings around a center, one after another. */
export interface Rings {
  /** The next ring; instead, how far to scan in the order of the collection if it takes too much to read at once. */
  next(question: RingQuestion): Promise<ReadRing | { readonly scanUpTo: number }>;
}
