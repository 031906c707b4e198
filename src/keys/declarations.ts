import { derive } from './derive.js';
import type { EntityDeclaration } from './entity-types.js';
import { INDEXES } from './indexes.js';
import { shardOf } from './shard.js';

// Every entity of the two tables, declared once. `scope` names a collection: by its key in readable keys, by its code
// of two characters in compact ones. Compact partition keys begin with the scope, two characters for the purpose and
// `#`; for entities outside any collection they begin with `--`, which cannot be a code.

/** Number of geohash characters in a cell's sort key; those before them are in the partition key. */
export const CELL_SUFFIX_LENGTH = 3;

/**
 * The sort key of a marker's own item. It sorts after `reading::…`, so that one descending Query returns the marker and
 * its latest readings.
 */
export const SELF = 'self';

/**
 * The suffix of the empty geohash, which is the whole collection: longer than any other suffix, so that it cannot be
 * mistaken for one.
 */
export const TOTAL = 'total';

const prefixOf = (geohash: string) => geohash.slice(0, -CELL_SUFFIX_LENGTH);
const suffixOf = (geohash: string) => geohash.slice(-CELL_SUFFIX_LENGTH);

export const COLLECTION = {
  name: 'collection',
  key: { pk: { readable: 'collection', compact: '--Co#' }, sk: '{key}' },
} as const satisfies EntityDeclaration;

/** Reserves a code for one collection. */
export const CODE = {
  name: 'code',
  key: { pk: { readable: 'code', compact: '--Cc#' }, sk: '{code}' },
} as const satisfies EntityDeclaration;

const MARKER_PK = { readable: 'marker::{scope}::{key}', compact: '{scope:2}Ma#{key}' } as const;

// With a single shard the key has no `shard` segment, so that a collection can be sharded later.
const MARKERS_BY_GEOHASH = {
  pk: { readable: 'marker::{scope}::{prefix}::{shard*}', compact: '{scope:2}Mg#{prefix}::{shard*}' },
  sk: '{rest}::{key}',
} as const;

export const MARKER = {
  name: 'marker',
  key: { pk: MARKER_PK, sk: SELF },
  indexes: {
    geoA: { attributes: INDEXES.geoA, ...MARKERS_BY_GEOHASH },
    geoB: { attributes: INDEXES.geoB, ...MARKERS_BY_GEOHASH },
    place: {
      attributes: INDEXES.place,
      pk: { readable: 'place::{scope}::{outermost?}', compact: '{scope:2}Mp#{outermost?}' },
      sk: '{inner*}::{key}',
    },
    global: { attributes: INDEXES.global, pk: '{globalId?}' },
  },
  derived: {
    prefix: derive({ geohash: 'text', prefixLength: 'number' }, ({ geohash, prefixLength }) =>
      geohash.slice(0, prefixLength),
    ),
    rest: derive({ geohash: 'text', prefixLength: 'number' }, ({ geohash, prefixLength }) =>
      geohash.slice(prefixLength),
    ),
    shard: derive({ key: 'text', writeShards: 'number' }, ({ key, writeShards }) =>
      writeShards > 1 ? [String(shardOf(key, writeShards))] : [],
    ),
    outermost: derive({ place: 'list' }, ({ place }) => place[0]),
    inner: derive({ place: 'list' }, ({ place }) => place.slice(1)),
  },
} as const satisfies EntityDeclaration;

/** A measurement of a marker, under the marker's own partition key. */
export const READING = {
  name: 'reading',
  key: { pk: MARKER_PK, sk: 'reading::{instant}' },
} as const satisfies EntityDeclaration;

/** The same for readings bucketed by time. */
export const BUCKETED_READING = {
  name: 'bucketedReading',
  key: {
    pk: { readable: 'marker::{scope}::{key}::{bucket}', compact: '{scope:2}Ma#{key}::{bucket}' },
    sk: 'reading::{instant}',
  },
} as const satisfies EntityDeclaration;

export const ZONE = {
  name: 'zone',
  key: { pk: { readable: 'zone::{scope}', compact: '{scope:2}Zo#' }, sk: '{key}' },
} as const satisfies EntityDeclaration;

export const ZONE_COVER = {
  name: 'zoneCover',
  key: { pk: { readable: 'cover::{scope}::{key}', compact: '{scope:2}Zc#{key}' }, sk: '{geohash}' },
  indexes: {
    geoA: {
      attributes: INDEXES.geoA,
      pk: { readable: 'zone::{scope}::{length}::{prefix}', compact: '{scope:2}Zg#{length}::{prefix}' },
      sk: '{suffix}::{key}',
    },
  },
  derived: {
    length: derive({ geohash: 'text' }, ({ geohash }) => String(geohash.length)),
    prefix: derive({ geohash: 'text' }, ({ geohash }) => prefixOf(geohash)),
    suffix: derive({ geohash: 'text' }, ({ geohash }) => suffixOf(geohash)),
  },
} as const satisfies EntityDeclaration;

/** The last number used as a key in a collection. */
export const COUNTER = {
  name: 'counter',
  key: { pk: { readable: 'counter::{scope}', compact: '{scope:2}Nu#' }, sk: '{schema}' },
} as const satisfies EntityDeclaration;

/** A background job on a collection. */
export const JOB = {
  name: 'job',
  key: { pk: { readable: 'job::{scope}', compact: '{scope:2}Jo#' }, sk: '{kind}::{subject*}' },
} as const satisfies EntityDeclaration;

/** Who may do what: the rules, an API key, or what says that they have changed. */
export const ACCESS = {
  name: 'access',
  key: { pk: { readable: 'access', compact: '--Ax#' }, sk: '{kind}::{subject*}' },
} as const satisfies EntityDeclaration;

/** A GraphQL document that servers may trust, by the SHA-256 of its text; `version` instead of that changes with the list. */
export const DOCUMENT = {
  name: 'document',
  key: { pk: { readable: 'document', compact: '--Do#' }, sk: '{hash}' },
} as const satisfies EntityDeclaration;

/** Partitions of one day: changes are seldom more than a thousand a second in each. */
export const AUDIT_SHARDS = 16;

/** What somebody has changed, or tried to, at an instant. */
export const AUDIT = {
  name: 'audit',
  key: { pk: { readable: 'audit::{day}::{shard}', compact: '--Au#{day}::{shard}' }, sk: '{instant}::{token}' },
} as const satisfies EntityDeclaration;

export const CELL = {
  name: 'cell',
  key: {
    pk: { readable: 'cell::{scope}::{length}::{prefix}', compact: '{scope:2}{purpose:2}#{prefix}' },
    sk: '{suffix}',
  },
  derived: {
    length: derive({ geohash: 'text' }, ({ geohash }) => String(geohash.length)),
    // Geohashes shorter than a suffix have an empty prefix, so the purpose distinguishes their lengths.
    purpose: derive({ geohash: 'text' }, ({ geohash }) =>
      geohash.length < CELL_SUFFIX_LENGTH ? `C${geohash.length}` : 'Ce',
    ),
    prefix: derive({ geohash: 'text' }, ({ geohash }) => prefixOf(geohash)),
    suffix: derive({ geohash: 'text' }, ({ geohash }) => (geohash === '' ? TOTAL : suffixOf(geohash))),
  },
} as const satisfies EntityDeclaration;

/** The item of a table of others that is a marker, where the marker's key does not tell it. */
export const WINNER = {
  name: 'winner',
  key: { pk: { readable: 'winner::{scope}::{key}', compact: '{scope:2}Wi#{key}' }, sk: 'item' },
} as const satisfies EntityDeclaration;

/** The number of markers at each place or below it. */
export const PLACES = {
  name: 'places',
  key: { pk: { readable: 'places::{scope}::{path*}', compact: '{scope:2}Pl#::{path*}' }, sk: '{name}' },
} as const satisfies EntityDeclaration;

/** A page of markers in Z-order, under the first character of their geohashes. Its sort key is its begin, unescaped. */
export const PAGE = {
  name: 'page',
  key: {
    pk: {
      readable: 'page::{scope}::{generation}::{partition}',
      compact: '{scope:2}Pg#{generation}::{partition}',
    },
    sk: '{begin}',
  },
} as const satisfies EntityDeclaration;

/** The begins and sizes of some of a collection's pages. */
export const PAGE_DIRECTORY = {
  name: 'pageDirectory',
  key: { pk: { readable: 'pages::{scope}::{generation}', compact: '{scope:2}Pd#{generation}' }, sk: '{begin}' },
} as const satisfies EntityDeclaration;

/** Some writes to markers that pages may lack, by the version of the consumer's state that they follow. */
export const RECENT_WRITES = {
  name: 'recentWrites',
  key: { pk: { readable: 'recent::{scope}', compact: '{scope:2}Re#' }, sk: '{version}::{part}' },
} as const satisfies EntityDeclaration;

/** The summaries of a marker's readings of one day. */
export const DAY_SUMMARY = {
  name: 'daySummary',
  key: { pk: { readable: 'summary::{scope}::{key}', compact: '{scope:2}Sm#{key}' }, sk: '{day}' },
} as const satisfies EntityDeclaration;

/** Enough for the first readings of a day of a million markers within minutes. */
export const DUE_SHARDS = 16;

/** A day of a marker whose readings must be summarized, once it is over. */
export const DUE_DAY = {
  name: 'dueDay',
  key: { pk: { readable: 'due::{scope}::{shard}', compact: '{scope:2}Du#{shard}' }, sk: '{day}::{key}' },
} as const satisfies EntityDeclaration;

const STREAM_PK = { readable: 'stream::{consumer}', compact: '--St#{consumer}' } as const;

/** The progress of a consumer of the stream, and the process that owns it. */
export const STREAM_STATE = {
  name: 'streamState',
  key: { pk: STREAM_PK, sk: 'state' },
} as const satisfies EntityDeclaration;

/** A record of the stream that could not be applied. */
export const DEAD_LETTER = {
  name: 'deadLetter',
  key: { pk: STREAM_PK, sk: 'aside::{sequence}' },
} as const satisfies EntityDeclaration;

/** All entities, as docs/keys.md shows them. */
export const ENTITIES: readonly EntityDeclaration[] = [
  COLLECTION,
  CODE,
  MARKER,
  READING,
  BUCKETED_READING,
  ZONE,
  ZONE_COVER,
  COUNTER,
  JOB,
  ACCESS,
  DOCUMENT,
  CELL,
  PLACES,
  PAGE,
  PAGE_DIRECTORY,
  RECENT_WRITES,
  DAY_SUMMARY,
  DUE_DAY,
  WINNER,
  STREAM_STATE,
  DEAD_LETTER,
  AUDIT,
];
