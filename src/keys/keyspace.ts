import { badInput } from '../errors.js';
import { CODE, COLLECTION, COUNTER, JOB } from './declarations.js';
import { derivedKeyspace } from './derived-keyspace.js';
import { type Key, documentId, parseDocumentId } from './document-id.js';
import type { KeyStyle } from './entity-types.js';
import { defineEntity } from './entity.js';
import { markerKeyspace } from './marker-keyspace.js';
import { partitionNames } from './partition-names.js';
import type { PartitionRange } from './template.js';
import { zoneKeyspace } from './zone-keyspace.js';

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
