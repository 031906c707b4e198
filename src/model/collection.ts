import type { Grant } from './grant.js';

/** A named set of markers and zones that are drawn, counted and paged together. */
export interface Collection {
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  /** How its markers get their keys. */
  readonly idStrategy: IdStrategy;
  /** Whether each marker gets a UUID by which it can be found without the collection's key. */
  readonly globalIds: boolean;
  /** Names of the properties that readers find in the index and in pages, so that viewports need no base items for them. */
  readonly mapProperties: readonly string[];
  /** Name of the numeric property by which search orders equally good matches; null if there is none. */
  readonly rankBy: string | null;
  /** Number of geohash characters in the partition keys of its markers' index entries, 0 to 6. */
  readonly prefixLength: number;
  /** Number of partitions over which each prefix is spread; 1 for no sharding. */
  readonly writeShards: number;
  /** Two characters that identify the collection in compact keys; null if it has no code. */
  readonly code: string | null;
  /** Number of days for which readings are kept; null for forever. */
  readonly readingsTtlDays: number | null;
  /**
   * Time span of the readings that share a partition. With NONE, all readings of a marker are in the marker's
   * partition.
   */
  readonly readingsBucket: ReadingsBucket;
  /** Whether readings are in the entities table, or in one table for each month. */
  readonly readingsTable: ReadingsTable;
  /** Whether the consumer of the stream keeps summaries of readings by hour and day. */
  readonly readingsSummarized: boolean;
  /** Whether its markers are entered into a geo index; otherwise they are found through pages alone. */
  readonly geoIndex: boolean;
  /** The geo index that readers use; the other one is free for a change of the layout. */
  readonly geoSlot: GeoSlot;
  /** Prefixes that are spread over more partitions than the others; those of an index not in use have no effect. */
  readonly spread?: readonly SpreadPrefix[];
  /** A change of its layout in progress. */
  readonly layoutChange?: LayoutChange;
  /** The table that it follows, which others write; undefined if its markers are in Cellport's own table. */
  readonly source?: CollectionSource;
  /** What the principal of the request may see or change of it; missing where all of it is meant. */
  readonly grant?: Grant;
  readonly version: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A table that others write, and which of its items are markers. */
export interface CollectionSource {
  readonly table: string;
  /** As in its file, JSON text since the order of its fields matters: see docs/sources.md. */
  readonly mapping: string;
  /** How often the table is read again, in milliseconds; undefined if its stream is followed. */
  readonly everyMs?: number;
  /** Read units a second that reading the whole table may take; undefined for no limit. */
  readonly maxRcu?: number;
  /** The key attributes of the table, the partition key first. */
  readonly tableKey: readonly TableKeyAttribute[];
}

export interface TableKeyAttribute {
  readonly name: string;
  readonly type: 'S' | 'N' | 'B';
}

/** How far a source is followed, whichever process does. */
export interface SourceStatus {
  readonly state: 'FILLING' | 'FOLLOWING' | 'GAP' | 'FAILED';
  /** What is wrong; null if nothing is. */
  readonly reason: string | null;
  /** A time in milliseconds since 1970 up to which its maps have everything; null before the first fill. */
  readonly asOf: number | null;
  readonly behindMs: number | null;
  /** Number of items that match but are no markers. */
  readonly rejected: number;
}

/** What is told of a source. */
export interface SourceReport extends SourceStatus {
  /** The key of its collection. */
  readonly collection: string;
  readonly table: string;
  readonly mapping: Readonly<Record<string, unknown>>;
}

export type GeoSlot = 'A' | 'B';

/** How the markers of a collection are partitioned in one of the geo indexes. */
export type GeoLayout = Pick<Collection, 'prefixLength' | 'writeShards' | 'geoSlot'>;

/** What can be changed while a collection is read and written: its partitions, and the properties that a map draws. */
export type Layout = Pick<Collection, 'prefixLength' | 'writeShards' | 'mapProperties'>;

/** A change of a collection's layout in progress, with the layout that readers do not use. */
export interface LayoutChange extends Layout {
  readonly phase: LayoutPhase;
  /** Identifies the phase: the collection's version at its beginning. */
  readonly step: number;
}

/**
 * `FILL`: markers are entered into the other index, and get the other map properties as well. `SWITCH`: both are
 * complete; readers have switched. `DRAIN`: both are removed.
 */
export type LayoutPhase = 'FILL' | 'SWITCH' | 'DRAIN';

/** The layout of a collection's index that readers do not use; undefined if no change of partitions is in progress. */
export function otherLayout({
  geoSlot,
  layoutChange,
  ...own
}: Pick<Collection, keyof GeoLayout | 'layoutChange'>): GeoLayout | undefined {
  if (layoutChange === undefined) return undefined;
  const { prefixLength, writeShards } = layoutChange;
  if (prefixLength === own.prefixLength && writeShards === own.writeShards) return undefined;
  return { prefixLength, writeShards, geoSlot: geoSlot === 'A' ? 'B' : 'A' };
}

/** The layouts in which a writer enters a marker: both while readers may use either, none without a geo index. */
export function writtenLayouts(collection: Collection): readonly GeoLayout[] {
  if (!collection.geoIndex) return [];
  const other = collection.layoutChange?.phase === 'DRAIN' ? undefined : otherLayout(collection);
  return other === undefined ? [collection] : [collection, other];
}

/** Whether two sets of map properties are the same, in whatever order. */
export function hasSameNames(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name) => others.includes(name));
}

/** The properties that a writer copies to the index: both sets while readers may rely on either. */
export function writtenMapProperties({ mapProperties, layoutChange }: Collection): readonly string[] {
  if (layoutChange === undefined || layoutChange.phase === 'DRAIN') return mapProperties;
  return [...new Set([...mapProperties, ...layoutChange.mapProperties])];
}

/**
 * A prefix whose entries in one geo index are spread over more partitions than its collection's `writeShards`. `GATHER`:
 * readers read all of them, writers use the former ones. `SPREAD`: every reader knows of it; a marker that is created or
 * moves enters one of them, and others stay where they are.
 */
export interface SpreadPrefix {
  readonly geoSlot: GeoSlot;
  readonly prefix: string;
  /** A multiple of `writeShards`, so that a key's partition is one of the former or one that readers read after them. */
  readonly shards: number;
  readonly phase: 'GATHER' | 'SPREAD';
}

export type ReadingsBucket = 'NONE' | 'DAY' | 'HOUR';
export type ReadingsTable = 'SHARED' | 'MONTHLY';
/** Keys are chosen by clients, numbered from 1, or version 7 UUIDs. */
export type IdStrategy = 'GIVEN' | 'SEQUENCE' | 'UUID';
