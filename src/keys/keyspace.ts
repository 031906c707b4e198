import { badInput } from '../errors.js';
import type { GeoSlot } from '../model/collection.js';
import { declareEntities, type KeyStyle } from './declarations.js';
import { documentId, parseDocumentId, type Key } from './document-id.js';
import { AFTER_SEPARATOR } from './escape.js';
import { geoIndexOf } from './indexes.js';
import { shardOf } from './shard.js';
import { compileTemplate } from './template.js';

export type { KeyStyle } from './declarations.js';
export type { Key } from './document-id.js';

/** Characters of a cell's geohash that stand in its sort key; the others stand in its partition key. */
const SUFFIX_LENGTH = 3;
const TOTAL = 'total';

/** What the index entry of a marker follows from. */
export interface GeoEntry {
  readonly scope: string;
  readonly key: string;
  /** Of length 10. */
  readonly geohash: string;
  readonly prefixLength: number;
  readonly writeShards: number;
  readonly geoSlot: GeoSlot;
}

/** Inclusive bounds of a BETWEEN on a sort key. */
export interface SortRange {
  readonly from: string;
  readonly to: string;
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
  marker(scope: string, key: string): Key;
  parseMarker(key: Key): { readonly scope: string; readonly key: string } | undefined;
  /** Whether the item is a marker's own or one that stands under it, e.g. a reading. */
  isUnderMarker(key: Key): boolean;
  /** The two attributes that put a marker into its geo index. */
  geoEntry(entry: GeoEntry): Readonly<Record<string, string>>;
  /** The partition keys of a prefix, one a shard. */
  geoPartitions(scope: string, prefix: string, writeShards: number): string[];
  /** Bounds of the sort keys of all markers from one geohash of length 10 to another, both included. */
  geoSortRange(prefixLength: number, firstGeohash: string, lastGeohash: string): SortRange;
  parseGeoSort(sortKey: string): { readonly rest: string; readonly key: string } | undefined;
  cell(scope: string, geohash: string): Key;
  /** Bounds of the cells from one geohash to another of the same length and partition, both included. */
  cellRange(scope: string, firstGeohash: string, lastGeohash: string): SortRange & { readonly pk: string };
  parseCell(key: Key): { readonly scope: string; readonly geohash: string } | undefined;
  streamState(consumer: string): Key;
  setAside(consumer: string, sequence: string): Key;
  setAsidePartition(consumer: string): SortRange & { readonly pk: string };
  documentId(key: Key): string;
  parseDocumentId(id: string): Key | undefined;
}

/** The keyspace of a table in this style. */
export function createKeyspace(style: KeyStyle): Keyspace {
  const entities = declareEntities(style);
  const geo = entities.marker.indexes.geoA;
  const markerPartition = compileTemplate({
    source: style === 'readable' ? 'marker::{scope}::{key}' : '{scope:2}Ma#{key}',
    role: 'partition',
    owner: 'marker',
  });

  function cellParts(scope: string, geohash: string) {
    const length = geohash.length;
    return {
      scope,
      length: style === 'readable' ? String(length) : length >= SUFFIX_LENGTH ? 'Ce' : `C${length}`,
      prefix: geohash.slice(0, -SUFFIX_LENGTH),
      suffix: geohash === '' ? TOTAL : geohash.slice(-SUFFIX_LENGTH),
    };
  }
  const cell = (scope: string, geohash: string): Key => entities.cell.format(cellParts(scope, geohash));

  return {
    style,
    scope({ key, code }) {
      if (style === 'readable') return key;
      if (code === null)
        throw badInput('code', code, `two letters or digits for the collection "${key}", as keys are compact here`);
      return code;
    },
    collection: (key) => entities.collection.format({ key }),
    collectionsPartition: entities.collection.format({ key: '-' }).pk,
    parseCollection: (key) => entities.collection.parse(key)?.key,
    codeClaim: (code) => entities.code.format({ code }),
    marker: (scope, key) => entities.marker.format({ scope, key }),
    parseMarker: (key) => entities.marker.parse(key),
    isUnderMarker: (key) => markerPartition.parse(key.pk) !== undefined,
    geoEntry({ scope, key, geohash, prefixLength, writeShards, geoSlot }) {
      return entities.marker.indexes[geoIndexOf(geoSlot)].format({
        scope,
        key,
        prefix: geohash.slice(0, prefixLength),
        rest: geohash.slice(prefixLength),
        shard: writeShards > 1 ? [String(shardOf(key, writeShards))] : [],
      });
    },
    geoPartitions(scope, prefix, writeShards) {
      const partition = (shard: readonly string[]) => geo.pk.format({ scope, prefix, shard, rest: '', key: '' });
      return writeShards > 1
        ? Array.from({ length: writeShards }, (_, shard) => partition([String(shard)]))
        : [partition([])];
    },
    geoSortRange: (prefixLength, firstGeohash, lastGeohash) => ({
      from: firstGeohash.slice(prefixLength),
      to: lastGeohash.slice(prefixLength) + AFTER_SEPARATOR,
    }),
    parseGeoSort: (sortKey) => geo.sk?.parse(sortKey),
    cell,
    cellRange(scope, firstGeohash, lastGeohash) {
      const first = cell(scope, firstGeohash);
      const last = cell(scope, lastGeohash);
      if (first.pk !== last.pk) throw new Error(`cells ${firstGeohash} and ${lastGeohash} stand in two partitions`);
      return { pk: first.pk, from: first.sk, to: last.sk };
    },
    parseCell(key) {
      const parts = entities.cell.parse(key);
      if (!parts) return undefined;
      const geohash = parts.suffix === TOTAL ? '' : parts.prefix + parts.suffix;
      const same = cell(parts.scope, geohash);
      return same.pk === key.pk && same.sk === key.sk ? { scope: parts.scope, geohash } : undefined;
    },
    streamState: (consumer) => entities.streamState.format({ consumer }),
    setAside: (consumer, sequence) => entities.setAside.format({ consumer, sequence }),
    setAsidePartition(consumer) {
      const { pk } = entities.streamState.format({ consumer });
      return { pk, from: 'aside::', to: `aside${AFTER_SEPARATOR}` };
    },
    documentId,
    parseDocumentId,
  };
}
