import { badInput } from '../errors.js';
import { ACCESS, CELL, CODE, COLLECTION, COUNTER, DOCUMENT, ENTITIES, JOB, ZONE, ZONE_COVER } from './declarations.js';
import { derivedKeyspace } from './derived-keyspace.js';
import { documentId, parseDocumentId, type Key } from './document-id.js';
import type { EntityDeclaration, KeyStyle } from './entity-types.js';
import { defineEntity, type Entity } from './entity.js';
import { markerKeyspace } from './marker-keyspace.js';
import type { Parts } from './template-types.js';
import type { PartitionRange } from './template.js';

/** Keys of zones, of their covers and of the index entries of these. */
function zoneKeyspace(style: KeyStyle) {
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

export type { Key } from './document-id.js';
export type { KeyStyle } from './entity-types.js';
export type { PartitionRange, SortRange } from './template.js';

/** Every key of both tables in one style, as functions of their parts. */
export type Keyspace = ReturnType<typeof createKeyspace>;

/** All of one kind from one geohash to another of the same length, both included. */
export interface GeoRange {
  readonly of: 'markers' | 'zones' | 'cells';
  readonly first: string;
  readonly last: string;
}

/** The geohash that a sort key of the geo index, or a bound of one, begins with. */
const geohashBefore = (sortKey: string) => /^[0-9a-z]*/.exec(sortKey)?.[0] ?? '';

/** The keyspace of a table in this style. Its functions throw BAD_USER_INPUT if a part is empty or too long for a key. */
export function createKeyspace(style: KeyStyle) {
  const collections = defineEntity(COLLECTION, style);
  const codes = defineEntity(CODE, style);
  const counters = defineEntity(COUNTER, style);
  const jobs = defineEntity(JOB, style);
  const access = defineEntity(ACCESS, style);
  const documents = defineEntity(DOCUMENT, style);
  const ofMarkers = markerKeyspace(style);
  const ofZones = zoneKeyspace(style);
  const derived = derivedKeyspace(style);

  return {
    style,
    /** The name of a collection in keys. Throws BAD_USER_INPUT if keys are compact and it has no code. */
    scope({ key, code }: { readonly key: string; readonly code: string | null }): string {
      if (style === 'readable') return key;
      if (code !== null) return code;
      throw badInput('code', code, `two letters or digits: this table's keys are compact and need one for "${key}"`);
    },
    collection: (key: string): Key => collections.format({ key }),
    /** The partition of all collections, sorted by key. */
    collectionsPartition: collections.pk.format({}),
    parseCollection: (key: Key) => collections.parse(key)?.key,
    /** The item that reserves a code for one collection. */
    codeClaim: (code: string): Key => codes.format({ code }),
    /** The counter of a collection that numbers its keys; `schema` is what it counts. */
    counter: (scope: string, schema: string): Key => counters.format({ scope, schema }),
    /** A background job on a collection, by its kind and subject. */
    job: (scope: string, kind: string, ...subject: readonly string[]): Key => jobs.format({ scope, kind, subject }),
    /** Bounds of all jobs of one kind that have a subject. */
    jobs: (scope: string, kind: string): PartitionRange => ({
      pk: jobs.pk.format({ scope }),
      ...jobs.sk.rangeUnder({ kind }),
    }),
    /** An item that says who may do what, by its kind and subject. */
    access: (kind: string, ...subject: readonly string[]): Key => access.format({ kind, subject }),
    /** Bounds of all such items of one kind that have a subject. */
    accessRange: (kind: string): PartitionRange => ({ pk: access.pk.format({}), ...access.sk.rangeUnder({ kind }) }),
    /** A trusted document by the SHA-256 of its text. All are in one partition, with an item for the version of the list. */
    document: (hash: string): Key => documents.format({ hash }),
    documentsVersion: documents.format({ hash: 'version' }),
    ...ofMarkers,
    ...ofZones,
    ...derived,
    /** The geohashes, both of one length, of bounds of sort keys in the geo index or of cells; undefined for other keys. */
    parseGeoRange({ pk, from, to }: PartitionRange): GeoRange | undefined {
      const firstCell = derived.parseCell({ pk, sk: from });
      const lastCell = derived.parseCell({ pk, sk: to });
      if (firstCell && lastCell) return { of: 'cells', first: firstCell.geohash, last: lastCell.geohash };
      const markersIn = ofMarkers.parseGeoPartition(pk);
      const prefix = markersIn ?? ofZones.parseZonePartition(pk);
      if (prefix === undefined) return undefined;
      const first = prefix + geohashBefore(from);
      const last = prefix + geohashBefore(to);
      const of = markersIn === undefined ? 'zones' : 'markers';
      return first.length === last.length ? { of, first, last } : undefined;
    },
    /** What a partition key of a table (index null) or of an index names; undefined if no entity has it. */
    namePartition: partitionNames(style),
    /** `<pk>#<sk>`, and the key of such an ID; undefined for any other text. */
    documentId,
    parseDocumentId,
  };
}

/** The entity whose items are under a partition key, and what the key says about them. */
export interface NamedPartition {
  readonly entity: string;
  readonly parts: Parts;
}

/** Compact keys of cells have any purpose, so that other entities come first. */
const IN_ORDER: readonly EntityDeclaration[] = [...ENTITIES.filter((entity) => entity !== CELL), CELL];

/** A function that names partition keys of the tables (index null) and of their indexes, in one style. */
function partitionNames(style: KeyStyle): (index: string | null, pk: string) => NamedPartition | undefined {
  const entities: readonly Entity[] = IN_ORDER.map((declaration) =>
    defineEntity<EntityDeclaration>(declaration, style),
  );
  return (index, pk) => {
    for (const { name: entity, pk: own, indexes } of entities) {
      const template = index === null ? own : indexes[index]?.pk;
      const parts = template?.parse(pk);
      if (parts !== undefined) return { entity, parts };
    }
    return undefined;
  };
}
