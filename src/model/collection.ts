/** A named set of markers that is drawn, counted and paged together. */
export interface Collection {
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  /** How its markers get their keys. */
  readonly idStrategy: IdStrategy;
  /** Whether each of its markers gets a UUID that finds it without the collection's key. */
  readonly globalIds: boolean;
  /** Names of the properties that a viewport can draw without touching the base items. */
  readonly mapProperties: readonly string[];
  /** Geohash characters in the partition key of its markers' index entries, 0 to 6. */
  readonly prefixLength: number;
  /** Partitions that each prefix is spread over, 1 for none. */
  readonly writeShards: number;
  /** Two symbols that stand for the collection in compact keys; null where it was given none. */
  readonly code: string | null;
  /** Days for which readings of its markers are shown and kept; null for good. */
  readonly readingsTtlDays: number | null;
  /** Stretches of time whose readings stand in a partition of their own; NONE: all of a marker's stand with it. */
  readonly readingsBucket: ReadingsBucket;
  /** Which slot of the geo index its markers stand in; the other one is free for a repartition. */
  readonly geoSlot: GeoSlot;
  readonly version: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type GeoSlot = 'A' | 'B';

export type ReadingsBucket = 'NONE' | 'DAY' | 'HOUR';
/** Keys are given by whoever makes a marker, counted from 1, or UUIDs of version 7. */
export type IdStrategy = 'GIVEN' | 'SEQUENCE' | 'UUID';
