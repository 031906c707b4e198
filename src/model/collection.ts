/** A named set of markers and zones that are drawn, counted and paged together. */
export interface Collection {
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  /** How its markers get their keys. */
  readonly idStrategy: IdStrategy;
  /** Whether each marker gets a UUID by which it can be found without the collection's key. */
  readonly globalIds: boolean;
  /** Names of the properties that the index projects, so that viewports read no base items for them. */
  readonly mapProperties: readonly string[];
  /** Name of the number by which search orders markers and zones that match equally well; null for none. */
  readonly rankBy: string | null;
  /** Geohash characters in the partition key of its markers' index entries, 0 to 6. */
  readonly prefixLength: number;
  /** Number of partitions over which each prefix is spread; 1 for no sharding. */
  readonly writeShards: number;
  /** Two characters that name the collection in compact keys; null if it has no code. */
  readonly code: string | null;
  /** Days for which readings are kept; null for forever. */
  readonly readingsTtlDays: number | null;
  /** Time span of the readings that share a partition; NONE: all readings of a marker are in the marker's partition. */
  readonly readingsBucket: ReadingsBucket;
  /** The geo index that its markers are in; the other one is free for a change of the prefix length. */
  readonly geoSlot: GeoSlot;
  readonly version: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type GeoSlot = 'A' | 'B';

export type ReadingsBucket = 'NONE' | 'DAY' | 'HOUR';
/** Keys are given by clients, numbered from 1, or UUIDs of version 7. */
export type IdStrategy = 'GIVEN' | 'SEQUENCE' | 'UUID';
