import type { GeoSlot } from '../model/collection.js';
import { spreadOf, type Spreading } from '../model/spread.js';
import { BUCKETED_READING, MARKER, READING } from './declarations.js';
import type { Key } from './document-id.js';
import type { KeyStyle } from './entity-types.js';
import { defineEntity } from './entity.js';
import { geoIndexOf } from './indexes.js';
import type { PartitionRange, SortRange } from './template.js';

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

/** Names the readings of a marker, or those of one bucket. */
export interface ReadingsOf {
  readonly scope: string;
  readonly key: string;
  readonly bucket?: string | undefined;
}

/** Keys of the readings of markers. */
function readingKeys(style: KeyStyle) {
  const readings = defineEntity(READING, style);
  const bucketedReadings = defineEntity(BUCKETED_READING, style);
  return {
    /** A reading of a marker. The instant is UTC with milliseconds and of fixed width, so that readings sort by time. */
    reading: ({ scope, key, bucket }: ReadingsOf, instant: string): Key =>
      bucket === undefined
        ? readings.format({ scope, key, instant })
        : bucketedReadings.format({ scope, key, bucket, instant }),
    /** Bounds of the readings of a marker between two instants, both included; undefined leaves a side open. */
    readingRange({ scope, key, bucket }: ReadingsOf, from: string | undefined, to: string | undefined): PartitionRange {
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
    /** The marker and the instant of a reading, in a bucket or not. */
    parseReading: (key: Key) => readings.parse(key) ?? bucketedReadings.parse(key),
  };
}

/** Keys of markers, of their readings and of their index entries. */
export function markerKeyspace(style: KeyStyle) {
  const markers = defineEntity(MARKER, style);
  // Both slots of the geo index hold the same keys; only the attributes differ.
  const { geoA: geo, place: places } = markers.indexes;

  return {
    ...readingKeys(style),
    /** A marker's own item. */
    marker: (scope: string, key: string): Key => markers.format({ scope, key }),
    parseMarker: (key: Key) => markers.parse(key),
    /** Whether the item is a marker, or is under one, e.g. a reading. */
    isUnderMarker: (key: Key) => markers.pk.parse(key.pk) !== undefined,
    /** The two attributes that put a marker into its geo index. */
    geoEntry: ({ geoSlot, ...entry }: GeoEntry) => markers.indexes[geoIndexOf(geoSlot)].format(entry),
    /** The partition keys of a prefix, one for each shard. */
    geoPartitions(scope: string, prefix: string, writeShards: number): string[] {
      const shards = writeShards > 1 ? Array.from({ length: writeShards }, (_, shard) => [String(shard)]) : [[]];
      return shards.map((shard) => geo.pk.format({ scope, prefix, shard }));
    },
    /**
     * The partition keys of a prefix that may be spread: those that a marker may leave for another one of them, then the
     * others. Whoever reads them in this order misses no marker that changes its partition.
     */
    spreadPartitions(scope: string, layout: Spreading, prefix: string): readonly (readonly string[])[] {
      const former = this.geoPartitions(scope, prefix, layout.writeShards);
      const spread = spreadOf(layout, prefix);
      if (spread === undefined) return [former];
      return [former, this.geoPartitions(scope, prefix, spread.shards).filter((pk) => !former.includes(pk))];
    },
    /** Bounds of the sort keys of all markers from one geohash of length 10 to another, both included. */
    geoSortRange: (prefixLength: number, firstGeohash: string, lastGeohash: string): SortRange => ({
      from: firstGeohash.slice(prefixLength),
      to: geo.sk.rangeUnder({ rest: lastGeohash.slice(prefixLength) }).to,
    }),
    /** The prefix of a partition of the geo index. */
    parseGeoPartition: (pk: string) => geo.pk.parse(pk)?.prefix,
    /** The geohash without its prefix and the marker's key, from the sort key of an index entry. */
    parseGeoSort: (sortKey: string) => geo.sk.parse(sortKey),
    /** The two attributes that put a marker into the index of places; none for a marker without a place. */
    placeEntry: (scope: string, key: string, place: readonly string[]) => places.format({ scope, key, place }),
    /** Bounds of all markers at a place and inside it; the whole partition if there is no range. */
    placeRange(
      scope: string,
      [outermost, ...inner]: readonly [string, ...string[]],
    ): {
      readonly pk: string;
      readonly range?: SortRange;
    } {
      const pk = places.pk.format({ scope, outermost });
      return inner.length === 0 ? { pk } : { pk, range: places.sk.rangeUnder({ inner }) };
    },
    /** The key of a marker from the sort key of its entry in the index of places. */
    parsePlaceSort: (sortKey: string) => places.sk.parse(sortKey),
    /** The place of a marker from both keys of its entry in the index of places. */
    parsePlace({ pk, sk }: Key): readonly string[] | undefined {
      const { outermost } = places.pk.parse(pk) ?? {};
      const { inner } = places.sk.parse(sk) ?? {};
      return outermost === undefined || inner === undefined ? undefined : [outermost, ...inner];
    },
  };
}
