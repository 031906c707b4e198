import { badInput } from '../../errors.js';
import { isWellFormed } from '../../keys/escape.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { readCode, readCollectionKey } from '../../keys/validate.js';
import type {
  Collection,
  CollectionSource,
  IdStrategy,
  Layout,
  LayoutChange,
  LayoutPhase,
  ReadingsBucket,
  ReadingsTable,
  SpreadPrefix,
} from '../../model/collection.js';
import { LAYOUT_LIMITS } from '../../model/limits.js';
import { areApart, partitionsOf, type ReadingsPartitioning } from '../../model/reading.js';
import type { Item } from '../database.js';
import { checkItemSize } from '../request/item-size.js';

/** How a collection's markers are to be indexed; what is omitted stays as it is. */
export interface WantedLayout {
  readonly mapProperties?: readonly string[] | null | undefined;
  readonly prefixLength?: number | null | undefined;
  readonly writeShards?: number | null | undefined;
}

/** A new collection as a client describes it. Everything is checked at run time, too. */
export interface CollectionInput extends WantedLayout {
  readonly key: string;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly idStrategy?: IdStrategy | null | undefined;
  readonly globalIds?: boolean | null | undefined;
  readonly rankBy?: string | null | undefined;
  readonly code?: string | null | undefined;
  readonly readingsTtlDays?: number | null | undefined;
  readonly readingsBucket?: ReadingsBucket | null | undefined;
  readonly readingsTable?: ReadingsTable | null | undefined;
  readonly readingsSummarized?: boolean | null | undefined;
  /** True by default; a source never has one. */
  readonly geoIndex?: boolean | null | undefined;
  /** Checked by whoever reads the mapping: see `describeSource`. */
  readonly source?: CollectionSource | undefined;
}

const DEFAULT_PREFIX_LENGTH = 2;
const MOST_MAP_PROPERTIES = 100;
/** About a hundred years; without a limit, readings are kept forever. */
const LONGEST_TTL_DAYS = 36_500;
/** A day is summarized when it is over, and before its first reading expires. */
const SHORTEST_SUMMARIZED_TTL_DAYS = 2;
/** Finding a reading may take a Query call for each. */
const MOST_BUCKETS = 64;
/** The same for months: some twelve years. */
const MOST_MONTHS = 160;
const READINGS_BUCKETS: readonly unknown[] = ['NONE', 'DAY', 'HOUR'] satisfies ReadingsBucket[];
const READINGS_TABLES: readonly unknown[] = ['SHARED', 'MONTHLY'] satisfies ReadingsTable[];

function readInteger<T>(field: string, value: unknown, least: number, most: number, otherwise: T): number | T {
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw badInput(field, value, `an integer from ${least} to ${most}`);
  }
  return value;
}

/** How markers are to be indexed; what is omitted is as in `otherwise`. Throws BAD_USER_INPUT. */
export function readLayout({ prefixLength, writeShards, mapProperties }: WantedLayout, otherwise: Layout): Layout {
  return {
    prefixLength: readInteger('prefixLength', prefixLength, 0, LAYOUT_LIMITS.prefixLength, otherwise.prefixLength),
    writeShards: readInteger('writeShards', writeShards, 1, LAYOUT_LIMITS.writeShards, otherwise.writeShards),
    mapProperties: readMapProperties(mapProperties, otherwise.mapProperties),
  };
}

const ID_STRATEGIES: readonly unknown[] = ['GIVEN', 'SEQUENCE', 'UUID'] satisfies IdStrategy[];
const isStrategy = (value: unknown): value is IdStrategy => ID_STRATEGIES.includes(value);

function readStrategy(value: unknown): IdStrategy {
  if (value === undefined || value === null) return 'GIVEN';
  if (isStrategy(value)) return value;
  throw badInput('idStrategy', value, ID_STRATEGIES.join(', '));
}

function readMapProperties(value: unknown, otherwise: readonly string[]): readonly string[] {
  if (value === undefined || value === null) return otherwise;
  const names = Array.isArray(value) ? [...new Set<unknown>(value)] : [];
  const right = names.every((name): name is string => typeof name === 'string' && isWellFormed(name));
  if (!Array.isArray(value) || !right || names.length > MOST_MAP_PROPERTIES) {
    throw badInput('mapProperties', value, `a list of at most ${MOST_MAP_PROPERTIES} names of properties`);
  }
  return names;
}

/** Required text from a client. Throws BAD_USER_INPUT naming the field. */
export function readText(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || !isWellFormed(value)) {
    throw badInput(field, value, 'non-empty text of Unicode characters');
  }
  return value;
}

/** Throws BAD_USER_INPUT if there would be too many partitions to search, as if readings were kept forever. */
function checkPartitions(layout: ReadingsPartitioning, ttlDays: number | null): void {
  if (!areApart(layout)) return;
  const { readingsBucket: bucket } = layout;
  const most = bucket === 'NONE' ? MOST_MONTHS : MOST_BUCKETS;
  if (partitionsOf(layout, ttlDays ?? Infinity) <= most) return;
  let days = 1;
  while (partitionsOf(layout, days + 1) <= most) days += 1;
  const allowed = bucket === 'NONE' ? 'monthly tables' : `buckets of a ${bucket}`;
  throw badInput('readingsTtlDays', ttlDays, `1 to ${days} for ${allowed}`);
}

/** How readings are divided, how long they are kept, and whether they are summarized. All are checked together. */
function readReadingsSettings(input: CollectionInput) {
  const readingsSummarized = input.readingsSummarized ?? false;
  const readingsTtlDays = readInteger('readingsTtlDays', input.readingsTtlDays, 1, LONGEST_TTL_DAYS, null);
  const readingsBucket = input.readingsBucket ?? 'NONE';
  if (!READINGS_BUCKETS.includes(readingsBucket)) throw badInput('readingsBucket', readingsBucket, 'NONE, DAY or HOUR');
  const readingsTable = input.readingsTable ?? 'SHARED';
  if (!READINGS_TABLES.includes(readingsTable)) throw badInput('readingsTable', readingsTable, 'SHARED or MONTHLY');
  checkPartitions({ readingsBucket, readingsTable }, readingsTtlDays);
  if (readingsSummarized && readingsTtlDays !== null && readingsTtlDays < SHORTEST_SUMMARIZED_TTL_DAYS) {
    const allowed = `at least ${SHORTEST_SUMMARIZED_TTL_DAYS}, or none, if readings are summarized`;
    throw badInput('readingsTtlDays', readingsTtlDays, allowed);
  }
  return { readingsTtlDays, readingsBucket, readingsTable, readingsSummarized };
}

/** Whether a new collection has a geo index. Throws BAD_USER_INPUT if it has none, but partitions of one are described. */
function readGeoIndex({ geoIndex, source, prefixLength, writeShards }: CollectionInput): boolean {
  if (source === undefined && geoIndex !== false) return true;
  for (const [field, value] of Object.entries({ prefixLength, writeShards })) {
    if (value != null) throw badInput(field, value, 'omitted: without a geo index, there are no such partitions');
  }
  return false;
}

/** The description of a collection from a client; null for none. */
export function readDescription(value: unknown): string | null {
  return value === undefined || value === null || value === '' ? null : readText('description', value);
}

/** The property by which search ranks what is in a collection; null for none. */
export function readRankBy(value: unknown): string | null {
  return value === undefined || value === null || value === '' ? null : readText('rankBy', value);
}

/** The collection that an input describes. Throws BAD_USER_INPUT naming the field that is wrong. */
export function newCollection(input: CollectionInput, now: string): Collection {
  return {
    key: readCollectionKey('key', input.key),
    name: readText('name', input.name),
    description: readDescription(input.description),
    idStrategy: readStrategy(input.idStrategy),
    globalIds: input.globalIds ?? false,
    rankBy: readRankBy(input.rankBy),
    ...readLayout(input, { prefixLength: DEFAULT_PREFIX_LENGTH, writeShards: 1, mapProperties: [] }),
    code: input.code === undefined || input.code === null ? null : readCode('code', input.code),
    ...readReadingsSettings(input),
    geoIndex: readGeoIndex(input),
    geoSlot: 'A',
    ...(input.source === undefined ? {} : { source: input.source }),
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
}

/** The item of a collection: its fields, without those that are null. */
export function collectionItem(keys: Keyspace, collection: Collection): Item {
  const { key, description, code, readingsTtlDays, rankBy, ...fields } = collection;
  const item = {
    ...keys.collection(key),
    ...fields,
    description: description ?? undefined,
    code: code ?? undefined,
    rankBy: rankBy ?? undefined,
    readingsTtlDays: readingsTtlDays ?? undefined,
  };
  checkItemSize(item, 'collection', 'description');
  return item;
}

/**
 * Attribute of a deleted collection until it has been emptied: when it was deleted. Such a collection is no longer visible,
 * and its key and code stay taken.
 */
export const EMPTYING = 'emptying';

const PHASES: readonly unknown[] = ['FILL', 'SWITCH', 'DRAIN'] satisfies LayoutPhase[];

const namesIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

function layoutChangeOf(value: unknown): { readonly layoutChange?: LayoutChange } {
  const { phase, prefixLength, writeShards, mapProperties, step } = (value ?? {}) as Record<string, unknown>;
  if (!PHASES.includes(phase) || [prefixLength, writeShards, step].some((each) => typeof each !== 'number')) return {};
  const names = namesIn(mapProperties);
  return { layoutChange: { phase, prefixLength, writeShards, mapProperties: names, step } as LayoutChange };
}

const isSpread = (value: unknown): value is SpreadPrefix => {
  const { geoSlot, prefix, shards, phase } = (value ?? {}) as Record<string, unknown>;
  const known = (geoSlot === 'A' || geoSlot === 'B') && (phase === 'GATHER' || phase === 'SPREAD');
  return known && typeof prefix === 'string' && typeof shards === 'number';
};

/** A collection from its item; undefined if the item is invalid, e.g. written by hand, or being emptied. */
export function collectionFromItem(keys: Keyspace, item: Item): Collection | undefined {
  return item[EMPTYING] === undefined ? anyCollectionFromItem(keys, item) : undefined;
}

/** A collection from its item, even if it is being emptied; undefined if the item is invalid. */
export function anyCollectionFromItem(keys: Keyspace, item: Item): Collection | undefined {
  const { pk, sk, name, description, mapProperties, prefixLength, writeShards, code, geoSlot, version } = item;
  const { createdAt, updatedAt, readingsTtlDays, readingsBucket, readingsTable, readingsSummarized } = item;
  const { idStrategy, globalIds, rankBy, layoutChange, spread, source, geoIndex } = item;
  const key = typeof pk === 'string' && typeof sk === 'string' ? keys.parseCollection({ pk, sk }) : undefined;
  if (key === undefined || typeof prefixLength !== 'number' || typeof writeShards !== 'number') return undefined;
  return {
    key,
    name: typeof name === 'string' ? name : key,
    description: typeof description === 'string' ? description : null,
    idStrategy: isStrategy(idStrategy) ? idStrategy : 'GIVEN',
    globalIds: globalIds === true,
    mapProperties: namesIn(mapProperties),
    rankBy: typeof rankBy === 'string' ? rankBy : null,
    prefixLength,
    writeShards,
    code: typeof code === 'string' ? code : null,
    readingsTtlDays: typeof readingsTtlDays === 'number' ? readingsTtlDays : null,
    readingsBucket: readingsBucket === 'DAY' || readingsBucket === 'HOUR' ? readingsBucket : 'NONE',
    readingsTable: readingsTable === 'MONTHLY' ? 'MONTHLY' : 'SHARED',
    readingsSummarized: readingsSummarized === true,
    geoIndex: geoIndex !== false && source === undefined,
    geoSlot: geoSlot === 'B' ? 'B' : 'A',
    ...(Array.isArray(spread) ? { spread: spread.filter(isSpread) } : {}),
    ...layoutChangeOf(layoutChange),
    ...(typeof source === 'object' && source !== null ? { source: source as CollectionSource } : {}),
    version: typeof version === 'number' ? version : 0,
    createdAt: typeof createdAt === 'string' ? createdAt : '',
    updatedAt: typeof updatedAt === 'string' ? updatedAt : '',
  };
}
