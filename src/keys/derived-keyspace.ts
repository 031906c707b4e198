import type { Place } from '../model/place.js';
import {
  AUDIT,
  AUDIT_SHARDS,
  CELL,
  DAY_SUMMARY,
  DEAD_LETTER,
  DUE_DAY,
  DUE_SHARDS,
  PAGE,
  PAGE_DIRECTORY,
  PLACES,
  RECENT_WRITES,
  STREAM_STATE,
  TOTAL,
  WINNER,
} from './declarations.js';
import { documentId, type Key } from './document-id.js';
import type { KeyStyle } from './entity-types.js';
import { defineEntity } from './entity.js';
import { shardOf } from './shard.js';
import type { PartitionRange } from './template.js';

/** Names a UTC day (`2026-11-24`) of a marker. */
export interface MarkerDay {
  readonly scope: string;
  readonly key: string;
  readonly day: string;
}

/** Keys of cells and of counts of places. */
function countKeys(style: KeyStyle) {
  const cells = defineEntity(CELL, style);
  const places = defineEntity(PLACES, style);
  return {
    /** The empty geohash is the collection's total. */
    cell: (scope: string, geohash: string): Key => cells.format({ scope, geohash }),
    /** Bounds of the cells from one geohash to another of the same length and partition, both included. */
    cellRange(scope: string, firstGeohash: string, lastGeohash: string): PartitionRange {
      const first = cells.format({ scope, geohash: firstGeohash });
      const last = cells.format({ scope, geohash: lastGeohash });
      if (first.pk !== last.pk) throw new Error(`cells ${firstGeohash} and ${lastGeohash} are in two partitions`);
      return { pk: first.pk, from: first.sk, to: last.sk };
    },
    parseCell(key: Key): { readonly scope: string; readonly geohash: string } | undefined {
      const parts = cells.parse(key);
      if (!parts) return undefined;
      const cell = { scope: parts.scope, geohash: parts.suffix === TOTAL ? '' : parts.prefix + parts.suffix };
      return cells.documentId(cell) === documentId(key) ? cell : undefined;
    },
    /** The item that counts the markers at a place, of at least one name, and inside it. */
    placeCount: (scope: string, place: Place): Key =>
      places.format({ scope, path: place.slice(0, -1), name: place.at(-1) ?? '' }),
    /** The partition of the counts of the next level below a place, sorted by last name. */
    placesPartition: (scope: string, under: Place) => places.pk.format({ scope, path: under }),
    parsePlaceCount(key: Key): { readonly scope: string; readonly place: Place } | undefined {
      const parts = places.parse(key);
      return parts && { scope: parts.scope, place: [...parts.path, parts.name] };
    },
  };
}

/** Enough for a write each millisecond for as long as safe integers last. */
const VERSION_DIGITS = 16;

/** Keys of pages, of their directories, and of what they lack. */
function pageKeys(style: KeyStyle) {
  const pages = defineEntity(PAGE, style);
  const directories = defineEntity(PAGE_DIRECTORY, style);
  const recent = defineEntity(RECENT_WRITES, style);
  const versioned = (version: number) => String(version).padStart(VERSION_DIGITS, '0');
  return {
    /** A page of markers by its begin, which is not escaped: pages have the order of their begins. */
    page: (scope: string, generation: string, begin: string): Key => ({
      pk: pages.pk.format({ scope, generation, partition: begin.charAt(0) }),
      sk: begin,
    }),
    parsePage: ({ pk }: Key) => pages.pk.parse(pk),
    /** The item of a directory by the begin of the first page in it. */
    pageDirectory: (scope: string, generation: string, begin: string): Key => ({
      pk: directories.pk.format({ scope, generation }),
      sk: begin,
    }),
    parsePageDirectory: ({ pk }: Key) => directories.pk.parse(pk),
    /** The item of some writes that were published after a version of the consumer's state. */
    recentWrites: (scope: string, version: number, part: string): Key =>
      recent.format({ scope, version: versioned(version), part }),
    /** Bounds of those that were published after one version or a later one, up to another, both included. */
    recentWritesRange: (scope: string, from: number, to: number): PartitionRange => ({
      pk: recent.pk.format({ scope }),
      from: versioned(from),
      to: recent.sk.rangeUnder({ version: versioned(to) }).to,
    }),
    parseRecentWrites(key: Key): { readonly scope: string; readonly version: number } | undefined {
      const parts = recent.parse(key);
      return parts && { scope: parts.scope, version: Number(parts.version) };
    },
  };
}

/** Keys of summaries of readings, and of the days to be summarized. */
function dayKeys(style: KeyStyle) {
  const summaries = defineEntity(DAY_SUMMARY, style);
  const dueDays = defineEntity(DUE_DAY, style);
  return {
    /** The summaries of a marker's readings of one day. */
    daySummary: ({ scope, key, day }: MarkerDay): Key => summaries.format({ scope, key, day }),
    /** Bounds of the summaries of a marker from one day to another, both included. */
    daySummaryRange: (scope: string, key: string, from: string, to: string): PartitionRange => ({
      pk: summaries.pk.format({ scope, key }),
      from: summaries.sk.format({ day: from }),
      to: summaries.sk.format({ day: to }),
    }),
    parseDaySummary: (key: Key): MarkerDay | undefined => summaries.parse(key),
    dueDay: ({ scope, key, day }: MarkerDay): Key =>
      dueDays.format({ scope, key, day, shard: String(shardOf(key, DUE_SHARDS)) }),
    /** Bounds of the due days of a collection up to one, included, by shard. */
    dueDayRanges: (scope: string, to: string): PartitionRange[] =>
      Array.from({ length: DUE_SHARDS }, (_, shard) => ({
        pk: dueDays.pk.format({ scope, shard: String(shard) }),
        from: '0',
        to: dueDays.sk.rangeUnder({ day: to }).to,
      })),
    parseDueDay(key: Key): MarkerDay | undefined {
      const parts = dueDays.parse(key);
      return parts && { scope: parts.scope, key: parts.key, day: parts.day };
    },
  };
}

/** Keys of what consumers of the stream remember, and of what people have changed. */
function streamKeys(style: KeyStyle) {
  const states = defineEntity(STREAM_STATE, style);
  const deadLetters = defineEntity(DEAD_LETTER, style);
  const winners = defineEntity(WINNER, style);
  const audits = defineEntity(AUDIT, style);
  return {
    /** The item that names the item of a source that is a marker. */
    winner: (scope: string, key: string): Key => winners.format({ scope, key }),
    parseWinner: (key: Key): { readonly scope: string; readonly key: string } | undefined => winners.parse(key),
    /** The item of a consumer's state, the item of one of its dead letters, and bounds of all of its dead letters. */
    streamState: (consumer: string): Key => states.format({ consumer }),
    deadLetter: (consumer: string, sequence: string): Key => deadLetters.format({ consumer, sequence }),
    deadLetterPartition: (consumer: string): PartitionRange => ({
      pk: deadLetters.pk.format({ consumer }),
      ...deadLetters.sk.rangeUnder({}),
    }),
    /** The item of what was changed at an instant (RFC 3339, UTC); `token` tells it from others of the same instant. */
    audit: (instant: string, token: string): Key =>
      audits.format({ day: instant.slice(0, 10), shard: String(shardOf(token, AUDIT_SHARDS)), instant, token }),
  };
}

/** Keys of the derived table. */
export function derivedKeyspace(style: KeyStyle) {
  return { ...countKeys(style), ...pageKeys(style), ...dayKeys(style), ...streamKeys(style) };
}
