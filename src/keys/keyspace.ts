import { badInput } from '../errors.js';
import type { GeoSlot } from '../model/collection.js';
import { APPLIED, CELL, CODE, COLLECTION, MARKER, READING, SET_ASIDE, STREAM_STATE, TOTAL } from './declarations.js';
import { documentId, parseDocumentId, type Key } from './document-id.js';
import type { KeyStyle } from './entity-types.js';
import { defineEntity } from './entity.js';
import { geoIndexOf } from './indexes.js';
import type { SortRange } from './template.js';

export type { Key } from './document-id.js';
export type { KeyStyle } from './entity-types.js';
export type { SortRange } from './template.js';

/** What the index entry of a marker is made from. */
export interface GeoEntry {
  readonly scope: string;
  readonly key: string;
  /** Of length 10. */
  readonly geohash: string;
  readonly prefixLength: number;
  readonly writeShards: number;
  readonly geoSlot: GeoSlot;
}

/** Bounds of sort keys within one partition. */
export interface PartitionRange extends SortRange {
  readonly pk: string;
}

/** Every key of both tables in one style, as functions of the parts they need. */
export interface Keyspace {
  readonly style: KeyStyle;
  /** How a collection is named in keys. Throws BAD_USER_INPUT where keys are compact and it has no code. */
  scope(collection: { readonly key: string; readonly code: string | null }): string;
  collection(key: string): Key;
  /** The partition key under which all collections stand, by key. */
  readonly collectionsPartition: string;
  parseCollection(key: Key): string | undefined;
  /** The item that keeps a code for one collection. */
  codeClaim(code: string): Key;
  /** A marker's own item. */
  marker(scope: string, key: string): Key;
  parseMarker(key: Key): { readonly scope: string; readonly key: string } | undefined;
  /** Whether the item is a marker's own or one that stands under it, e.g. a reading. */
  isUnderMarker(key: Key): boolean;
  /** The marker that a reading is of, and its instant: RFC 3339 in UTC with milliseconds. */
  parseReading(key: Key): { readonly scope: string; readonly key: string; readonly instant: string } | undefined;
  /** The two attributes that put a marker into its geo index. */
  geoEntry(entry: GeoEntry): Readonly<Record<string, string>>;
  /** The partition keys of a prefix, one a shard. */
  geoPartitions(scope: string, prefix: string, writeShards: number): string[];
  /** Bounds of the sort keys of all markers from one geohash of length 10 to another, both included. */
  geoSortRange(prefixLength: number, firstGeohash: string, lastGeohash: string): SortRange;
  /** The geohash without its prefix and the marker's key, from the sort key of an index entry. */
  parseGeoSort(sortKey: string): { readonly rest: string; readonly key: string } | undefined;
  /** The empty geohash is the collection's total. */
  cell(scope: string, geohash: string): Key;
  /** Bounds of the cells from one geohash to another of the same length and partition, both included. */
  cellRange(scope: string, firstGeohash: string, lastGeohash: string): PartitionRange;
  parseCell(key: Key): { readonly scope: string; readonly geohash: string } | undefined;
  /** The item that knows which record of a marker the cells have. */
  applied(scope: string, key: string): Key;
  /** The item that holds a consumer's state, the one of a record that it set aside, and bounds of all of these. */
  streamState(consumer: string): Key;
  setAside(consumer: string, sequence: string): Key;
  setAsidePartition(consumer: string): PartitionRange;
  /** `<pk>#<sk>`, and the key of such an id; undefined for a text that is none. */
  documentId(key: Key): string;
  parseDocumentId(id: string): Key | undefined;
}

/** The keyspace of a table in this style. Its functions throw BAD_USER_INPUT where a part is empty or too long for a key. */
export function createKeyspace(style: KeyStyle): Keyspace {
  const collections = defineEntity(COLLECTION, style);
  const codes = defineEntity(CODE, style);
  const markers = defineEntity(MARKER, style);
  const readings = defineEntity(READING, style);
  const cells = defineEntity(CELL, style);
  const applied = defineEntity(APPLIED, style);
  const states = defineEntity(STREAM_STATE, style);
  const setAsides = defineEntity(SET_ASIDE, style);
  // Both slots of the geo index hold the same keys; only the attributes differ.
  const geo = markers.indexes.geoA;

  return {
    style,
    scope({ key, code }) {
      if (style === 'readable') return key;
      if (code !== null) return code;
      throw badInput('code', code, `two letters or digits: this table's keys are compact and need one for "${key}"`);
    },
    collection: (key) => collections.format({ key }),
    collectionsPartition: collections.pk.format({}),
    parseCollection: (key) => collections.parse(key)?.key,
    codeClaim: (code) => codes.format({ code }),
    marker: (scope, key) => markers.format({ scope, key }),
    parseMarker: (key) => markers.parse(key),
    parseReading: (key) => readings.parse(key),
    isUnderMarker: (key) => markers.pk.parse(key.pk) !== undefined,
    geoEntry: ({ geoSlot, ...entry }) => markers.indexes[geoIndexOf(geoSlot)].format(entry),
    geoPartitions(scope, prefix, writeShards) {
      const shards = writeShards > 1 ? Array.from({ length: writeShards }, (_, shard) => [String(shard)]) : [[]];
      return shards.map((shard) => geo.pk.format({ scope, prefix, shard }));
    },
    geoSortRange: (prefixLength, firstGeohash, lastGeohash) => ({
      from: firstGeohash.slice(prefixLength),
      to: geo.sk.rangeUnder({ rest: lastGeohash.slice(prefixLength) }).to,
    }),
    parseGeoSort: (sortKey) => geo.sk.parse(sortKey),
    cell: (scope, geohash) => cells.format({ scope, geohash }),
    cellRange(scope, firstGeohash, lastGeohash) {
      const first = cells.format({ scope, geohash: firstGeohash });
      const last = cells.format({ scope, geohash: lastGeohash });
      if (first.pk !== last.pk) throw new Error(`cells ${firstGeohash} and ${lastGeohash} stand in two partitions`);
      return { pk: first.pk, from: first.sk, to: last.sk };
    },
    parseCell(key) {
      const parts = cells.parse(key);
      if (!parts) return undefined;
      const cell = { scope: parts.scope, geohash: parts.suffix === TOTAL ? '' : parts.prefix + parts.suffix };
      return cells.documentId(cell) === documentId(key) ? cell : undefined;
    },
    applied: (scope, key) => applied.format({ scope, key }),
    streamState: (consumer) => states.format({ consumer }),
    setAside: (consumer, sequence) => setAsides.format({ consumer, sequence }),
    setAsidePartition: (consumer) => ({ pk: setAsides.pk.format({ consumer }), ...setAsides.sk.rangeUnder({}) }),
    documentId,
    parseDocumentId,
  };
}
