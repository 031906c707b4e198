import type { Point } from '../geo/point.js';
import type { Place } from './place.js';

export type Properties = Readonly<Record<string, unknown>>;

/** What the geo index knows of a marker: all that a map draws. */
export interface MapMarker {
  /** Key of its collection. */
  readonly collection: string;
  readonly key: string;
  /** Exactly as it was given; longitude 180 stays 180. */
  readonly position: Point;
  readonly name: string | null;
  readonly category: string | null;
  /** Raised only when something that the index projects changes; of two copies the higher one is newer. */
  readonly mapVersion: number;
  /** The collection's map properties of this marker, or all its properties where `complete`. */
  readonly mapProperties: Properties;
  /** Whether `mapProperties` holds all of the marker's properties. */
  readonly complete: boolean;
  /** Where it hangs in a hierarchy; left out by an index that does not know. */
  readonly place?: Place;
}

/** A marker as its base item holds it. */
export interface Marker extends MapMarker {
  readonly properties: Properties;
  readonly place: Place;
  /** UUID; null where its collection gives none. */
  readonly globalId: string | null;
  /** Tells it from other markers that had its key before; empty where it was made by others. */
  readonly incarnation: string;
  readonly version: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}
