import { badInput } from '../errors.js';
import type { GeoSlot } from '../model/collection.js';
import type { Place } from '../model/place.js';
import {
  APPLIED,
  BUCKETED_READING,
  CELL,
  CODE,
  COLLECTION,
  COUNTER,
  JOB,
  MARKER,
  PAGE,
  PAGE_DIRECTORY,
  PLACES,
  READING,
  DEAD_LETTER,
  STREAM_STATE,
  TOTAL,
  ZONE,
  ZONE_COVER,
} from './declarations.js';
import { documentId, parseDocumentId, type Key } from './document-id.js';
import type { KeyStyle } from './entity-types.js';
import { defineEntity } from './entity.js';
import { geoIndexOf } from './indexes.js';
import type { SortRange } from './template.js';

export type { Key } from './document-id.js';
export type { KeyStyle } from './entity-types.js';
export type { SortRange } from './template.js';

/** What the geo index entry of a marker is made from. */
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

/** All of one kind from one geohash to another of the same length, both included. */
export interface GeoRange {
  readonly of: 'markers' | 'zones' | 'cells';
  readonly first: string;
  readonly last: string;
}

/** Names the readings of a marker, or those of one bucket. */
export interface ReadingsOf {
  readonly scope: string;
  readonly key: string;
  readonly bucket?: string | undefined;
}

/** Every key of both tables in one style, as functions of their parts. */
export interface Keyspace {
  readonly style: KeyStyle;
  /** The name of a collection in keys. Throws BAD_USER_INPUT if keys are compact and it has no code. */
  scope(collection: { readonly key: string; readonly code: string | null }): string;
  collection(key: string): Key;
  /** The partition of all collections, sorted by key. */
  readonly collectionsPartition: string;
  parseCollection(key: Key): string | undefined;
  /** The item that reserves a code for one collection. */
  codeClaim(code: string): Key;
  /** The counter of a collection that numbers its keys; `schema` is what it counts. */
  counter(scope: string, schema: string): Key;
  /** A background job on a collection, by its kind and subject. */
  job(scope: string, kind: string, ...subject: readonly string[]): Key;
  /** Bounds of all jobs of one kind that have a subject. */
  jobs(scope: string, kind: string): PartitionRange;
  /** A marker's own item. */
  marker(scope: string, key: string): Key;
  parseMarker(key: Key): { readonly scope: string; readonly key: string } | undefined;
  /** Whether the item is a marker, or is under one, e.g. a reading. */
  isUnderMarker(key: Key): boolean;
  /** A reading of a marker. The instant is UTC with milliseconds and of fixed width, so that readings sort by time. */
  reading(of: ReadingsOf, instant: string): Key;
  /** Bounds of the readings of a marker between two instants, both included; undefined leaves a side open. */
  readingRange(of: ReadingsOf, from: string | undefined, to: string | undefined): PartitionRange;
  /** The marker and the instant of a reading, in a bucket or not. */
  parseReading(key: Key): { readonly scope: string; readonly key: string; readonly instant: string } | undefined;
  /** The two attributes that put a marker into its geo index. */
  geoEntry(entry: GeoEntry): Readonly<Record<string, string>>;
  /** The two attributes that put a marker into the index of places; none for a marker without a place. */
  placeEntry(scope: string, key: string, place: readonly string[]): Readonly<Record<string, string>>;
  /** Bounds of all markers at a place and inside it; the whole partition if there is no range. */
  placeRange(scope: string, place: readonly [string, ...string[]]): { readonly pk: string; readonly range?: SortRange };
  /** The key of a marker from the sort key of its entry in the index of places. */
  parsePlaceSort(sortKey: string): { readonly key: string } | undefined;
  /** The place of a marker from both keys of its entry in the index of places. */
  parsePlace(entry: Key): readonly string[] | undefined;
  /** The partition keys of a prefix, one for each shard. */
  geoPartitions(scope: string, prefix: string, writeShards: number): string[];
  /** Bounds of the sort keys of all markers from one geohash of length 10 to another, both included. */
  geoSortRange(prefixLength: number, firstGeohash: string, lastGeohash: string): SortRange;
  /** The geohashes, both of one length, of bounds of sort keys in the geo index or of cells; undefined for other keys. */
  parseGeoRange(range: PartitionRange): GeoRange | undefined;
  /** The geohash without its prefix and the marker's key, from the sort key of an index entry. */
  parseGeoSort(sortKey: string): { readonly rest: string; readonly key: string } | undefined;
  /** A zone's own item, and the partition of all zones of a collection, sorted by key. */
  zone(scope: string, key: string): Key;
  zonesPartition(scope: string): string;
  parseZone(key: Key): { readonly scope: string; readonly key: string } | undefined;
  /** The item of a zone's cover in one cell, and the partition of all covers of one zone. */
  zoneCover(scope: string, key: string, geohash: string): Key;
  zoneCoversPartition(scope: string, key: string): string;
  parseZoneCover(key: Key): { readonly scope: string; readonly key: string; readonly geohash: string } | undefined;
  /** The two attributes that put a cover into the geo index of its collection. */
  zoneEntry(scope: string, key: string, geohash: string, geoSlot: GeoSlot): Readonly<Record<string, string>>;
  /** Bounds of the covers in the cells from one geohash to another of the same length and partition, both included. */
  zoneRange(scope: string, firstGeohash: string, lastGeohash: string): PartitionRange;
  /** The empty geohash is the collection's total. */
  cell(scope: string, geohash: string): Key;
  /** Bounds of the cells from one geohash to another of the same length and partition, both included. */
  cellRange(scope: string, firstGeohash: string, lastGeohash: string): PartitionRange;
  parseCell(key: Key): { readonly scope: string; readonly geohash: string } | undefined;
  /** The item that holds the last record of a marker that was applied to the cells. */
  applied(scope: string, key: string): Key;
  /** The item that counts the markers at a place, of at least one name, and inside it. */
  placeCount(scope: string, place: Place): Key;
  /** The partition of the counts of the next level below a place, sorted by last name. */
  placesPartition(scope: string, under: Place): string;
  parsePlaceCount(key: Key): { readonly scope: string; readonly place: Place } | undefined;
  /** A page of markers by its begin, which is not escaped: pages have the order of their begins. */
  page(scope: string, generation: string, begin: string): Key;
  parsePage(key: Key): { readonly scope: string; readonly generation: string } | undefined;
  /** The item of a directory by the begin of the first page in it. */
  pageDirectory(scope: string, generation: string, begin: string): Key;
  parsePageDirectory(key: Key): { readonly scope: string; readonly generation: string } | undefined;
  /** The item of a consumer's state, the item of one of its dead letters, and bounds of all of its dead letters. */
  streamState(consumer: string): Key;
  deadLetter(consumer: string, sequence: string): Key;
  deadLetterPartition(consumer: string): PartitionRange;
  /** `<pk>#<sk>`, and the key of such an ID; undefined for any other text. */
  documentId(key: Key): string;
  parseDocumentId(id: string): Key | undefined;
}

/** The geohash that a sort key of the geo index, or a bound of one, begins with. */
const geohashBefore = (sortKey: string) => /^[0-9a-z]*/.exec(sortKey)?.[0] ?? '';

/** The keyspace of a table in this style. Its functions throw BAD_USER_INPUT if a part is empty or too long for a key. */
export function createKeyspace(style: KeyStyle): Keyspace {
  const collections = defineEntity(COLLECTION, style);
  const codes = defineEntity(CODE, style);
  const counters = defineEntity(COUNTER, style);
  const jobs = defineEntity(JOB, style);
  const markers = defineEntity(MARKER, style);
  const readings = defineEntity(READING, style);
  const bucketedReadings = defineEntity(BUCKETED_READING, style);
  const zones = defineEntity(ZONE, style);
  const covers = defineEntity(ZONE_COVER, style);
  const cells = defineEntity(CELL, style);
  const applied = defineEntity(APPLIED, style);
  const places = defineEntity(PLACES, style);
  const pages = defineEntity(PAGE, style);
  const directories = defineEntity(PAGE_DIRECTORY, style);
  const states = defineEntity(STREAM_STATE, style);
  const deadLetters = defineEntity(DEAD_LETTER, style);
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
    counter: (scope, schema) => counters.format({ scope, schema }),
    job: (scope, kind, ...subject) => jobs.format({ scope, kind, subject }),
    jobs: (scope, kind) => ({ pk: jobs.pk.format({ scope }), ...jobs.sk.rangeUnder({ kind }) }),
    marker: (scope, key) => markers.format({ scope, key }),
    parseMarker: (key) => markers.parse(key),
    isUnderMarker: (key) => markers.pk.parse(key.pk) !== undefined,
    reading: ({ scope, key, bucket }, instant) =>
      bucket === undefined
        ? readings.format({ scope, key, instant })
        : bucketedReadings.format({ scope, key, bucket, instant }),
    readingRange({ scope, key, bucket }, from, to) {
      const all = readings.sk.rangeUnder({});
      return {
        pk:
          bucket === undefined
            ? readings.pk.format({ scope, key })
            : bucketedReadings.pk.format({ scope, key, bucket }),
        from: from === undefined ? all.from : readings.sk.format({ instant: from }),
        to: to === undefined ? all.to : readings.sk.format({ instant: to }),
      };
    },
    parseReading: (key) => readings.parse(key) ?? bucketedReadings.parse(key),
    geoEntry: ({ geoSlot, ...entry }) => markers.indexes[geoIndexOf(geoSlot)].format(entry),
    placeEntry: (scope, key, place) => markers.indexes.place.format({ scope, key, place }),
    placeRange(scope, [outermost, ...inner]) {
      const pk = markers.indexes.place.pk.format({ scope, outermost });
      return inner.length === 0 ? { pk } : { pk, range: markers.indexes.place.sk.rangeUnder({ inner }) };
    },
    parsePlaceSort: (sortKey) => markers.indexes.place.sk.parse(sortKey),
    parsePlace({ pk, sk }) {
      const { outermost } = markers.indexes.place.pk.parse(pk) ?? {};
      const { inner } = markers.indexes.place.sk.parse(sk) ?? {};
      return outermost === undefined || inner === undefined ? undefined : [outermost, ...inner];
    },
    geoPartitions(scope, prefix, writeShards) {
      const shards = writeShards > 1 ? Array.from({ length: writeShards }, (_, shard) => [String(shard)]) : [[]];
      return shards.map((shard) => geo.pk.format({ scope, prefix, shard }));
    },
    geoSortRange: (prefixLength, firstGeohash, lastGeohash) => ({
      from: firstGeohash.slice(prefixLength),
      to: geo.sk.rangeUnder({ rest: lastGeohash.slice(prefixLength) }).to,
    }),
    parseGeoRange({ pk, from, to }) {
      const firstCell = this.parseCell({ pk, sk: from });
      const lastCell = this.parseCell({ pk, sk: to });
      if (firstCell && lastCell) return { of: 'cells', first: firstCell.geohash, last: lastCell.geohash };
      const ofMarkers = geo.pk.parse(pk);
      const { prefix } = ofMarkers ?? covers.indexes.geoA.pk.parse(pk) ?? {};
      if (prefix === undefined) return undefined;
      const first = prefix + geohashBefore(from);
      const last = prefix + geohashBefore(to);
      return first.length === last.length ? { of: ofMarkers ? 'markers' : 'zones', first, last } : undefined;
    },
    parseGeoSort: (sortKey) => geo.sk.parse(sortKey),
    zone: (scope, key) => zones.format({ scope, key }),
    zonesPartition: (scope) => zones.pk.format({ scope }),
    parseZone: (key) => zones.parse(key),
    zoneCover: (scope, key, geohash) => covers.format({ scope, key, geohash }),
    zoneCoversPartition: (scope, key) => covers.pk.format({ scope, key }),
    parseZoneCover: (key) => covers.parse(key),
    zoneEntry: (scope, key, geohash, geoSlot) => covers.indexes[geoIndexOf(geoSlot)].format({ scope, key, geohash }),
    zoneRange(scope, firstGeohash, lastGeohash) {
      const entryOf = (geohash: string) => {
        const { gpkA: pk = '', gskA: sk = '' } = covers.indexes.geoA.format({ scope, key: '-', geohash });
        return { pk, suffix: covers.indexes.geoA.sk.parse(sk)?.suffix ?? '' };
      };
      const first = entryOf(firstGeohash);
      const last = entryOf(lastGeohash);
      if (first.pk !== last.pk) throw new Error(`covers of ${firstGeohash} and ${lastGeohash} are in two partitions`);
      const sort = covers.indexes.geoA.sk;
      return {
        pk: first.pk,
        from: sort.rangeUnder({ suffix: first.suffix }).from,
        to: sort.rangeUnder({ suffix: last.suffix }).to,
      };
    },
    cell: (scope, geohash) => cells.format({ scope, geohash }),
    cellRange(scope, firstGeohash, lastGeohash) {
      const first = cells.format({ scope, geohash: firstGeohash });
      const last = cells.format({ scope, geohash: lastGeohash });
      if (first.pk !== last.pk) throw new Error(`cells ${firstGeohash} and ${lastGeohash} are in two partitions`);
      return { pk: first.pk, from: first.sk, to: last.sk };
    },
    parseCell(key) {
      const parts = cells.parse(key);
      if (!parts) return undefined;
      const cell = { scope: parts.scope, geohash: parts.suffix === TOTAL ? '' : parts.prefix + parts.suffix };
      return cells.documentId(cell) === documentId(key) ? cell : undefined;
    },
    applied: (scope, key) => applied.format({ scope, key }),
    placeCount: (scope, place) => places.format({ scope, path: place.slice(0, -1), name: place.at(-1) ?? '' }),
    placesPartition: (scope, under) => places.pk.format({ scope, path: under }),
    parsePlaceCount(key) {
      const parts = places.parse(key);
      return parts && { scope: parts.scope, place: [...parts.path, parts.name] };
    },
    page: (scope, generation, begin) => ({
      pk: pages.pk.format({ scope, generation, partition: begin.charAt(0) }),
      sk: begin,
    }),
    parsePage: ({ pk }) => pages.pk.parse(pk),
    pageDirectory: (scope, generation, begin) => ({ pk: directories.pk.format({ scope, generation }), sk: begin }),
    parsePageDirectory: ({ pk }) => directories.pk.parse(pk),
    streamState: (consumer) => states.format({ consumer }),
    deadLetter: (consumer, sequence) => deadLetters.format({ consumer, sequence }),
    deadLetterPartition: (consumer) => ({ pk: deadLetters.pk.format({ consumer }), ...deadLetters.sk.rangeUnder({}) }),
    documentId,
    parseDocumentId,
  };
}
