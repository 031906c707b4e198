import { ZONE, ZONE_COVER } from './declarations.js';
import type { Key } from './document-id.js';
import type { KeyStyle } from './entity-types.js';
import { defineEntity } from './entity.js';
import type { PartitionRange } from './template.js';

/** Keys of zones, of their covers and of the index entries of these. */
export function zoneKeyspace(style: KeyStyle) {
  const zones = defineEntity(ZONE, style);
  const covers = defineEntity(ZONE_COVER, style);
  const entries = covers.indexes.geoA;

  return {
    /** A zone's own item, and the partition of all zones of a collection, sorted by key. */
    zone: (scope: string, key: string): Key => zones.format({ scope, key }),
    zonesPartition: (scope: string) => zones.pk.format({ scope }),
    parseZone: (key: Key) => zones.parse(key),
    /** The item of a zone's cover in one cell, and the partition of all covers of one zone. */
    zoneCover: (scope: string, key: string, geohash: string): Key => covers.format({ scope, key, geohash }),
    zoneCoversPartition: (scope: string, key: string) => covers.pk.format({ scope, key }),
    parseZoneCover: (key: Key) => covers.parse(key),
    /** The two attributes that put a cover into `geoA`, whichever geo index its collection's markers are in. */
    zoneEntry: (scope: string, key: string, geohash: string) => entries.format({ scope, key, geohash }),
    /** Bounds of the covers in the cells from one geohash to another of the same length and partition, both included. */
    zoneRange(scope: string, firstGeohash: string, lastGeohash: string): PartitionRange {
      const entryOf = (geohash: string) => {
        const { gpkA: pk = '', gskA: sk = '' } = entries.format({ scope, key: '-', geohash });
        return { pk, suffix: entries.sk.parse(sk)?.suffix ?? '' };
      };
      const first = entryOf(firstGeohash);
      const last = entryOf(lastGeohash);
      if (first.pk !== last.pk) throw new Error(`covers of ${firstGeohash} and ${lastGeohash} are in two partitions`);
      return {
        pk: first.pk,
        from: entries.sk.rangeUnder({ suffix: first.suffix }).from,
        to: entries.sk.rangeUnder({ suffix: last.suffix }).to,
      };
    },
    /** The prefix of a partition of covers in the geo index. */
    parseZonePartition: (pk: string) => entries.pk.parse(pk)?.prefix,
  };
}
