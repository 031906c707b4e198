import type {
  GlobalSecondaryIndexDescription,
  KeySchemaElement,
  LocalSecondaryIndexDescription,
  TableDescription,
} from '@aws-sdk/client-dynamodb';

import { CellportError } from '../../errors.js';
import type { TableDefinition } from './table-definitions.js';

/** A table as DynamoDB describes it; `description` is undefined if it does not exist. */
export interface TableState {
  readonly name: string;
  /** What it must be. */
  readonly definition: TableDefinition;
  readonly description: TableDescription | undefined;
  /** Attribute by which items expire; null if none is set. */
  readonly ttl: string | null;
}

/** One difference between a table and the schema it must have. */
export interface TableDifference {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

/** A difference, and the table in which it is. */
export interface TableFault extends TableDifference {
  readonly table: string;
}

const NOTHING = 'none';
const TABLE = 'the table';
const TTL = 'TTL attribute';
const KEY = 'key';
const TYPE = 'type of attribute';
const STREAM = 'stream';

/** Whether items have other keys than Cellport's. */
export const isOfKey = ({ what }: TableDifference): boolean => what === KEY || what.startsWith(TYPE);

/** Differences that are mended when tables are opened. */
export const isMended = ({ what, found }: TableDifference): boolean =>
  what === TABLE || (what === TTL && found === NOTHING);

/** Whether a difference shows that a table is not Cellport's. The stream is a setting of its owner. */
export const isForeign = (difference: TableDifference): boolean => difference.what !== STREAM && !isMended(difference);

function keysOf(schema: readonly KeySchemaElement[] | undefined): string {
  return (schema ?? []).map(({ AttributeName, KeyType }) => `${AttributeName} (${KeyType})`).join(', ') || NOTHING;
}

function projectionOf(index: GlobalSecondaryIndexDescription, wanted: readonly string[]): string {
  const { ProjectionType: type, NonKeyAttributes: names = [] } = index.Projection ?? {};
  if (type !== 'INCLUDE') return String(type);
  // Attributes beyond those required do no harm.
  return `INCLUDE ${wanted.filter((name) => names.includes(name)).join(' ')}`;
}

/**
 * The differences between a table and its definition. Capacity, tags and further indexes of the entities table are up to
 * its owner. A table without indexes has nothing but its key to be known by, so there an index is a difference.
 */
export function tableDifferences({ request, ttl }: TableDefinition, state: TableState): readonly TableDifference[] {
  const table = state.description;
  if (table === undefined) return [{ what: TABLE, expected: 'present', found: 'missing' }];
  const pairs: [what: string, expected: string, found: string][] = [
    [KEY, keysOf(request.KeySchema), keysOf(table.KeySchema)],
    ...attributePairs(request, table),
    [TTL, ttl, state.ttl ?? NOTHING],
  ];
  if (request.GlobalSecondaryIndexes === undefined) pairs.push(['indexes', NOTHING, indexesOf(table)]);
  for (const index of request.GlobalSecondaryIndexes ?? []) {
    const name = `index ${index.IndexName}`;
    const other = table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index.IndexName);
    if (other === undefined) {
      pairs.push([name, 'present', 'missing']);
      continue;
    }
    pairs.push([`key of ${name}`, keysOf(index.KeySchema), keysOf(other.KeySchema)]);
    // An index that projects everything also works; it only costs more.
    if (other.Projection?.ProjectionType === 'ALL') continue;
    const wanted = index.Projection?.NonKeyAttributes ?? [];
    if (wanted.length === 0) continue;
    pairs.push([`projection of ${name}`, projectionOf(index, wanted), projectionOf(other, wanted)]);
  }
  const stream = request.StreamSpecification?.StreamViewType;
  if (stream !== undefined) {
    const { StreamEnabled: on, StreamViewType: view } = table.StreamSpecification ?? {};
    pairs.push([STREAM, stream, on === true ? String(view) : NOTHING]);
  }
  return pairs
    .filter(([, expected, found]) => expected !== found)
    .map(([what, expected, found]) => ({ what, expected, found }));
}

function indexesOf({
  GlobalSecondaryIndexes: global = [],
  LocalSecondaryIndexes: local = [],
}: TableDescription): string {
  const all: readonly LocalSecondaryIndexDescription[] = [...global, ...local];
  return all.map(({ IndexName }) => IndexName).join(', ') || NOTHING;
}

function attributePairs(
  { AttributeDefinitions: wanted = [] }: TableDefinition['request'],
  { AttributeDefinitions: there = [] }: TableDescription,
): [string, string, string][] {
  return (wanted ?? []).flatMap(({ AttributeName: name, AttributeType: type }) => {
    const found = there.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
    // An attribute that no key uses has no type; then its index is missing, which is reported.
    return found === undefined ? [] : [[`${TYPE} ${name}`, String(type), found] as [string, string, string]];
  });
}

/** The differences of a table, with its name. */
export const faultsOf = (state: TableState): TableFault[] =>
  tableDifferences(state.definition, state).map((difference) => ({ table: state.name, ...difference }));

const ADVICE =
  'Cellport uses, changes and deletes only tables with its own schema: choose other names with CELLPORT_TABLE, or change the table yourself';

/**
 * Throws UNAVAILABLE, unless there are no faults, with a line for each: table, expected, found; `details.differences` has
 * the same as data.
 */
export function refuse(faults: readonly TableFault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(
    ({ table, what, expected, found }) => `table ${table}: ${what} must be ${expected}; found ${found}`,
  );
  const advice = faults.every(({ what }) => what === TABLE) ? [] : [ADVICE];
  throw new CellportError('UNAVAILABLE', [...lines, ...advice].join('\n'), { differences: faults });
}
