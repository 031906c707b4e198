import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { KeySchemaElement } from '@aws-sdk/client-dynamodb';

import { compareBytes } from '../../src/keys/byte-order.js';
import type { KeyStyle } from '../../src/keys/keyspace.js';
import { firstIndex } from '../../src/pages/bisect.js';
import { createDatabase, type DatabaseOptions } from '../../src/store/create-database.js';
import type { Database } from '../../src/store/database.js';
import { tableDefinitions } from '../../src/store/table/table-definitions.js';
import { betweenFiles } from './between-files.js';

// Responds like DynamoDB Local, a hundred times faster, for tests that read. Tests of writes, indexes and streams use
// the real engine. memory-store.test.ts sends the same requests to both and compares the responses. Features not needed
// by tests are rejected.

/** An attribute value in wire format, as in DynamoDB's JSON. */
type Wire = Readonly<Record<string, unknown>>;
type Item = Readonly<Record<string, Wire>>;
type Input = Readonly<Record<string, unknown>>;

/** A string of a request; throws for any other value. */
function stringOf(value: unknown): string {
  if (typeof value !== 'string')
    throw new Error(`the memory store expects a string instead of ${JSON.stringify(value)}`);
  return value;
}

/** An error as DynamoDB would return it. */
class Refusal extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

const PAGE_BYTES = 1024 * 1024;
const READ_UNIT_BYTES = 4096;
const WRITE_UNIT_BYTES = 1024;

/** Throws if a request has a parameter that the store does not support. */
function knows(input: Input, ...parameters: readonly string[]): void {
  const strange = Object.keys(input).filter((name) => !parameters.includes(name));
  if (strange.length > 0) throw new Error(`the memory store does not support ${strange.join(', ')}`);
}

/** Size of a value in bytes as DynamoDB counts it. */
function sizeOf(value: Wire): number {
  const [[type, content] = ['NULL', true]] = Object.entries(value);
  switch (type) {
    case 'S':
      return Buffer.byteLength(content as string);
    case 'N':
      return (
        Math.ceil(
          stringOf(content)
            .replace(/^-?0*\.?0*|[-.]/g, '')
            .replace(/0+$/, '').length / 2,
        ) + 1
      );
    case 'B':
      return Buffer.from(content as string, 'base64').length;
    case 'BOOL':
    case 'NULL':
      return 1;
    case 'SS':
      return (content as readonly string[]).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    case 'L':
      return 3 + (content as readonly Wire[]).reduce((sum, each) => sum + 1 + sizeOf(each), 0);
    case 'M':
      return 3 + Object.entries(content as Item).reduce((sum, [name, each]) => sum + 1 + name.length + sizeOf(each), 0);
    default:
      throw new Error(`the memory store does not support values of type ${type}`);
  }
}
const sizes = new WeakMap<Item, number>();

function itemSize(item: Item): number {
  let size = sizes.get(item);
  if (size === undefined) {
    const parts = Object.entries(item).map(([name, value]) => Buffer.byteLength(name) + sizeOf(value));
    size = parts.reduce((sum, part) => sum + part, 0);
    sizes.set(item, size);
  }
  return size;
}

const textOf = (value: Wire | undefined) => JSON.stringify(value ?? null);

function compareKeys(a: Wire | undefined, b: Wire | undefined): number {
  if (a?.['N'] !== undefined && b?.['N'] !== undefined) {
    const difference = BigInt(stringOf(a['N'])) - BigInt(stringOf(b['N']));
    return difference < 0n ? -1 : Number(difference > 0n);
  }
  return compareBytes(stringOf(a?.['S'] ?? ''), stringOf(b?.['S'] ?? ''));
}

/** Sort keys that a query reads. */
interface KeyRange {
  readonly isBefore: (key: Wire | undefined) => boolean;
  readonly isAfter: (key: Wire | undefined) => boolean;
}
const ALL_KEYS: KeyRange = { isBefore: () => false, isAfter: () => false };

/** A table or one of its indexes: items by partition, in key order. */
class Index {
  readonly hash: string;
  readonly range: string | undefined;
  readonly #projected: ReadonlySet<string> | undefined;
  readonly #tieBreakers: readonly string[];
  readonly #partitions = new Map<string, { readonly items: Item[]; sorted: boolean }>();

  constructor(schema: readonly KeySchemaElement[], baseKeys: readonly string[] = [], projected?: readonly string[]) {
    const named = (type: string) => schema.find(({ KeyType }) => KeyType === type)?.AttributeName;
    this.hash = named('HASH') ?? '';
    this.range = named('RANGE');
    this.#tieBreakers = baseKeys;
    const keys = [this.hash, this.range ?? this.hash, ...baseKeys];
    this.#projected = projected === undefined ? undefined : new Set([...keys, ...projected]);
  }

  /** Whether its items have all attributes. */
  get hasAll(): boolean {
    return this.#projected === undefined;
  }

  /** The attributes that identify an item of this index. */
  keyOf(item: Item): Item {
    const names = [this.hash, this.range, ...this.#tieBreakers].filter((name) => name !== undefined);
    return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
  }

  #compare(a: Item, b: Item): number {
    for (const name of [this.range, ...this.#tieBreakers]) {
      const order = name === undefined ? 0 : compareKeys(a[name], b[name]);
      if (order !== 0) return order;
    }
    return 0;
  }

  add(item: Item): void {
    if (item[this.hash] === undefined || (this.range !== undefined && item[this.range] === undefined)) return;
    const projected = this.#projected;
    const kept =
      projected === undefined ? item : Object.fromEntries(Object.entries(item).filter(([name]) => projected.has(name)));
    const name = textOf(item[this.hash]);
    const partition = this.#partitions.get(name) ?? { items: [], sorted: true };
    const last = partition.items.at(-1);
    if (last && this.#compare(last, kept) > 0) partition.sorted = false;
    partition.items.push(kept);
    this.#partitions.set(name, partition);
  }

  remove(item: Item): void {
    const items = this.#sorted(item[this.hash]);
    const at = firstIndex(items.length, (index) => this.#compare(items[index] ?? {}, item) >= 0);
    const found = items[at];
    if (found && this.#compare(found, item) === 0) items.splice(at, 1);
  }

  /** The items of a partition, in order. */
  #sorted(hash: Wire | undefined): Item[] {
    const partition = this.#partitions.get(textOf(hash));
    if (partition === undefined) return [];
    if (!partition.sorted) {
      partition.items.sort((a, b) => this.#compare(a, b));
      partition.sorted = true;
    }
    return partition.items;
  }

  /** Items of a partition within a range of sort keys and after a key, in order. */
  items(hash: Wire, { isBefore, isAfter }: KeyRange, after: Item | undefined, forward: boolean): readonly Item[] {
    const items = this.#sorted(hash);
    const first = (holds: (key: Wire | undefined, afterKey: number) => boolean) =>
      firstIndex(items.length, (index) => {
        const item = items[index] ?? {};
        return holds(item[this.range ?? ''], after === undefined ? 0 : this.#compare(item, after));
      });
    const from = first((key, order) => !isBefore(key) && (after === undefined || !forward || order > 0));
    const to = first((key, order) => isAfter(key) || (after !== undefined && !forward && order >= 0));
    const found = items.slice(from, to);
    return forward ? found : found.reverse();
  }

  partitions(): readonly Wire[] {
    return [...this.#partitions.values()].flatMap(({ items: [first] }) =>
      first === undefined ? [] : [first[this.hash] ?? {}],
    );
  }
}

interface Table {
  readonly description: Input;
  readonly base: Index;
  readonly indexes: ReadonlyMap<string, Index>;
  readonly items: Map<string, Item>;
}

interface DeclaredIndex {
  readonly IndexName: string;
  readonly KeySchema: readonly KeySchemaElement[];
  readonly Projection: { readonly ProjectionType: string; readonly NonKeyAttributes?: readonly string[] };
}

const tables = new Map<string, Table>();
betweenFiles.push(() => tables.clear());

function createTable(input: Input): Input {
  const schema = input['KeySchema'] as readonly KeySchemaElement[];
  const base = new Index(schema);
  const baseKeys = schema.flatMap(({ AttributeName }) => AttributeName ?? []);
  const { GlobalSecondaryIndexes: declared = [] } = input;
  const indexes = (declared as readonly DeclaredIndex[]).map(({ IndexName, KeySchema, Projection }) => {
    const projected = Projection.ProjectionType === 'ALL' ? undefined : (Projection.NonKeyAttributes ?? []);
    return [IndexName, new Index(KeySchema, baseKeys, projected)] as const;
  });
  const name = stringOf(input['TableName']);
  const description = { ...input, TableStatus: 'ACTIVE', TableId: randomUUID(), CreationDateTime: Date.now() / 1000 };
  tables.set(name, { description, base, indexes: new Map(indexes), items: new Map() });
  return { TableDescription: description };
}

function tableOf(name: unknown): Table {
  const table = tables.get(stringOf(name));
  if (table === undefined)
    throw new Refusal('ResourceNotFoundException', 'Cannot do operations on a non-existent table');
  return table;
}

const nameIn = ({ base }: Table, key: Item) => `${textOf(key[base.hash])} ${textOf(key[base.range ?? base.hash])}`;
const find = (table: Table, key: Item) => table.items.get(nameIn(table, key));

/** Replaces the item with this key, or removes it. */
function replace(table: Table, key: Item, item: Item | undefined): void {
  const before = find(table, key);
  const indexes = [table.base, ...table.indexes.values()];
  if (before !== undefined) for (const index of indexes) index.remove(before);
  if (item === undefined) table.items.delete(nameIn(table, key));
  else {
    table.items.set(nameIn(table, key), item);
    for (const index of indexes) index.add(item);
  }
}

/** Reads names of the form `name`, `#name` and `#name.#other`. */
function pathOf(text: string, { ExpressionAttributeNames: names = {} }: Input): readonly string[] {
  return text.split('.').map((part) => {
    const name = part.startsWith('#') ? (names as Record<string, string>)[part] : part;
    if (name === undefined || !/^#?\w+$/.test(part))
      throw new Error(`the memory store does not support the path ${text}`);
    return name;
  });
}

const valueIn = (text: string | undefined, { ExpressionAttributeValues: values = {} }: Input): Wire => {
  const value = (values as Record<string, Wire>)[text ?? ''];
  if (value === undefined) throw new Error(`the memory store does not support the value ${text}`);
  return value;
};

function project(item: Item, input: Input): Item {
  if (input['ProjectionExpression'] === undefined) return item;
  const projected: Record<string, Wire> = {};
  for (const text of stringOf(input['ProjectionExpression']).split(', ')) {
    const [name = '', inner, ...more] = pathOf(text, input);
    if (more.length > 0) throw new Error(`the memory store does not support the path ${text}`);
    const value = item[name];
    if (value === undefined) continue;
    const within = inner === undefined ? undefined : (value['M'] as Item | undefined)?.[inner];
    if (inner === undefined) projected[name] = value;
    else if (within !== undefined) projected[name] = { M: { [inner]: within } };
  }
  return projected;
}

/** Evaluates a condition or filter: `attribute_exists` and `attribute_not_exists` of one attribute, or `=`. */
function holds(expression: unknown, item: Item | undefined, input: Input): boolean {
  if (expression === undefined) return true;
  const [, name, value] = /^(\w+) = (:\w+)$/.exec(stringOf(expression)) ?? [];
  if (name !== undefined) return textOf(item?.[name]) === textOf(valueIn(value, input));
  const [, not, text = ''] = /^attribute_(not_)?exists\((#?\w+)\)$/.exec(stringOf(expression)) ?? [];
  if (text === '') throw new Error(`the memory store does not support the condition ${stringOf(expression)}`);
  const [attribute = ''] = pathOf(text, input);
  return (item?.[attribute] === undefined) === (not !== undefined);
}

const KEY_CONDITION = /^(#?\w+) = (:\w+)(?: AND (#?\w+) (?:BETWEEN (:\w+) AND (:\w+)|(<|>|=) (:\w+)))?$/;

/** The partition that a query reads, and its sort keys. */
function readKeyCondition(index: Index, input: Input): { hash: Wire; keys: KeyRange } {
  const text = stringOf(input['KeyConditionExpression']);
  const [, hashName, hash, rangeName, from, to, sign, bound] = KEY_CONDITION.exec(text) ?? [];
  const range = rangeName === undefined ? undefined : pathOf(rangeName, input)[0];
  if (hashName === undefined || pathOf(hashName, input)[0] !== index.hash || (range ?? index.range) !== index.range) {
    throw new Error(`the memory store does not support the key condition ${text}`);
  }
  const partition = valueIn(hash, input);
  if (range === undefined) return { hash: partition, keys: ALL_KEYS };
  const [low, high] = [valueIn(from ?? bound, input), valueIn(to ?? bound, input)];
  const isBefore = (key: Wire | undefined) => {
    const order = compareKeys(key, low);
    return sign === '<' ? false : sign === '>' ? order <= 0 : order < 0;
  };
  const isAfter = (key: Wire | undefined) => {
    const order = compareKeys(key, high);
    return sign === '>' ? false : sign === '<' ? order >= 0 : order > 0;
  };
  return { hash: partition, keys: { isBefore, isAfter } };
}

const readUnits = (bytes: number, consistent: unknown) =>
  Math.ceil(bytes / READ_UNIT_BYTES) * (consistent === true ? 1 : 0.5);
const consumed = (table: unknown, units: number) => ({ TableName: table, CapacityUnits: units });

/** One page of items, which ends after the item that reaches its limit. */
function pageOf(index: Index, items: readonly Item[], input: Input): Input {
  const { Limit: limit = Infinity, ConsistentRead: consistent, TableName: table } = input;
  let bytes = 0;
  let length = 0;
  while (length < items.length && length < Number(limit) && bytes < PAGE_BYTES)
    bytes += itemSize(items[length++] ?? {});
  const last = length < Number(limit) && bytes < PAGE_BYTES ? undefined : items[length - 1];
  const found = items.slice(0, length).filter((item) => holds(input['FilterExpression'], item, input));
  return {
    Items: found.map((item) => project(item, input)),
    Count: found.length,
    ScannedCount: length,
    ...(last === undefined ? {} : { LastEvaluatedKey: index.keyOf(last) }),
    ConsumedCapacity: consumed(table, readUnits(bytes, consistent)),
  };
}

function indexOf(input: Input): Index {
  const table = tableOf(input['TableName']);
  const name = input['IndexName'];
  const index = name === undefined ? table.base : table.indexes.get(stringOf(name));
  if (index === undefined)
    throw new Refusal('ValidationException', `The table does not have the specified index: ${stringOf(name)}`);
  return index;
}

const READS = ['TableName', 'IndexName', 'Limit', 'ExclusiveStartKey', 'ConsistentRead', 'ReturnConsumedCapacity', 'ProjectionExpression', 'FilterExpression', 'ExpressionAttributeNames', 'ExpressionAttributeValues']; // prettier-ignore

function query(input: Input): Input {
  knows(input, ...READS, 'KeyConditionExpression', 'ScanIndexForward', 'Select');
  const index = indexOf(input);
  if (input['Select'] !== undefined && !(input['Select'] === 'ALL_ATTRIBUTES' && index.hasAll)) {
    throw new Error('the memory store does not fetch attributes that an index lacks');
  }
  const { hash, keys } = readKeyCondition(index, input);
  const after = input['ExclusiveStartKey'] as Item | undefined;
  const items = index.items(hash, keys, after, input['ScanIndexForward'] !== false);
  return pageOf(index, items, input);
}

function scan(input: Input): Input {
  knows(input, ...READS);
  if (input['ExclusiveStartKey'] !== undefined) throw new Error('the memory store scans whole tables only');
  const index = indexOf(input);
  const items = index.partitions().flatMap((hash) => index.items(hash, ALL_KEYS, undefined, true));
  const page = pageOf(index, items, input);
  if (page['LastEvaluatedKey'] !== undefined && input['Limit'] === undefined) {
    throw new Error('the memory store scans small tables only');
  }
  return page;
}

function getItem(input: Input): Input {
  knows(input, 'TableName', 'Key', 'ConsistentRead', 'ReturnConsumedCapacity', 'ProjectionExpression', 'ExpressionAttributeNames'); // prettier-ignore
  const { TableName: name, Key: key, ConsistentRead: consistent } = input;
  const item = find(tableOf(name), key as Item);
  // Unlike an empty query, a read of a missing item has a cost.
  const units = readUnits(item === undefined ? 1 : itemSize(item), consistent);
  return { ...(item === undefined ? {} : { Item: project(item, input) }), ConsumedCapacity: consumed(name, units) };
}

function batchGetItem(input: Input): Input {
  knows(input, 'RequestItems', 'ReturnConsumedCapacity');
  const answers = Object.entries(input['RequestItems'] as Record<string, Input>).map(([name, request]) => {
    knows(request, 'Keys', 'ConsistentRead', 'ProjectionExpression', 'ExpressionAttributeNames');
    const table = tableOf(name);
    const keys = request['Keys'] as readonly Item[];
    const known = new Set(keys.map((key) => nameIn(table, key)));
    if (known.size < keys.length)
      throw new Refusal('ValidationException', 'Provided list of item keys contains duplicates');
    if (keys.length > 100)
      throw new Refusal('ValidationException', 'Too many items requested for the BatchGetItem call');
    const found = keys.map((key) => find(table, key));
    const units = found.map((item) => readUnits(item === undefined ? 0 : itemSize(item), request['ConsistentRead']));
    const items = found.flatMap((item) => (item === undefined ? [] : [project(item, request)]));
    // DynamoDB returns them in no particular order.
    return { name, items: items.toReversed(), units: units.reduce((sum, unit) => sum + unit, 0) };
  });
  return {
    Responses: Object.fromEntries(answers.map(({ name, items }) => [name, items])),
    UnprocessedKeys: {},
    ConsumedCapacity: answers.map(({ name, units }) => consumed(name, units)),
  };
}

const writeUnits = (item: Item | undefined) => Math.max(1, Math.ceil((item === undefined ? 0 : itemSize(item)) / WRITE_UNIT_BYTES)); // prettier-ignore

function batchWriteItem(input: Input): Input {
  knows(input, 'RequestItems', 'ReturnConsumedCapacity');
  interface Write {
    readonly PutRequest?: { readonly Item: Item };
    readonly DeleteRequest?: { readonly Key: Item };
  }
  const capacity = Object.entries(input['RequestItems'] as Record<string, readonly Write[]>).map(([name, writes]) => {
    if (writes.length > 25)
      throw new Refusal('ValidationException', 'Too many items requested for the BatchWriteItem call');
    for (const { PutRequest: put, DeleteRequest: deletion } of writes) {
      replace(tableOf(name), put?.Item ?? deletion?.Key ?? {}, put?.Item);
    }
    return consumed(
      name,
      writes.reduce((sum, { PutRequest: put }) => sum + writeUnits(put?.Item), 0),
    );
  });
  return { UnprocessedItems: {}, ConsumedCapacity: capacity };
}

function putItem(input: Input): Input {
  knows(input, 'TableName', 'Item', 'ConditionExpression', 'ExpressionAttributeNames', 'ReturnConsumedCapacity');
  const { TableName: name, Item: item, ConditionExpression: condition } = input;
  const table = tableOf(name);
  if (!holds(condition, find(table, item as Item), input)) {
    throw new Refusal('ConditionalCheckFailedException', 'The conditional request failed');
  }
  replace(table, item as Item, item as Item);
  return { ConsumedCapacity: consumed(name, writeUnits(item as Item)) };
}

function deleteItem(input: Input): Input {
  knows(input, 'TableName', 'Key', 'ReturnConsumedCapacity');
  const { TableName: name, Key: key } = input;
  replace(tableOf(name), key as Item, undefined);
  return { ConsumedCapacity: consumed(name, 1) };
}

function transactWriteItems(input: Input): Input {
  knows(input, 'TransactItems', 'ReturnConsumedCapacity', 'ClientRequestToken');
  const puts = (input['TransactItems'] as readonly Input[]).map((each) => {
    knows(each, 'Put');
    return each['Put'] as Input;
  });
  const failing = puts.map((put) => {
    const table = tableOf(put['TableName']);
    return !holds(put['ConditionExpression'], find(table, put['Item'] as Item), put);
  });
  if (failing.includes(true)) throw new Refusal('TransactionCanceledException', 'Transaction canceled');
  for (const { TableName: name, Item: item } of puts) replace(tableOf(name), item as Item, item as Item);
  return { ConsumedCapacity: [] };
}

const INSERT = /^INSERT INTO "([^"]+)" VALUE \{((?:'[^']+': \?(?:, )?)+)\}$/;
const UPDATE = /^UPDATE "([^"]+)"((?: SET "[^"]+" = \?)+) WHERE pk = \? AND sk = \? AND (\w+) = \?$/;

/** The two statements that write cell blocks, and DynamoDB's error if one fails. */
function execute({ Statement: statement, Parameters: values }: Input): string | undefined {
  const parameters = values as readonly Wire[];
  const [, insertInto, inserted = ''] = INSERT.exec(stringOf(statement)) ?? [];
  if (insertInto !== undefined) {
    const names = [...inserted.matchAll(/'([^']+)'/g)].map(([, name = '']) => name);
    const item = Object.fromEntries(names.map((name, at) => [name, parameters[at] ?? {}]));
    const table = tableOf(insertInto);
    if (find(table, item) !== undefined) return 'DuplicateItem';
    replace(table, item, item);
    return undefined;
  }
  const [, updated, sets = '', guard = ''] = UPDATE.exec(stringOf(statement)) ?? [];
  if (updated === undefined) throw new Error(`the memory store does not support the statement ${stringOf(statement)}`);
  const names = [...sets.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
  const [pk = {}, sk = {}, expected] = parameters.slice(names.length);
  const table = tableOf(updated);
  const before = find(table, { pk, sk });
  if (before === undefined || JSON.stringify(before[guard]) !== JSON.stringify(expected))
    return 'ConditionalCheckFailed';
  const changes = Object.fromEntries(names.map((name, at) => [name, parameters[at] ?? {}]));
  replace(table, before, { ...before, ...changes });
  return undefined;
}

function batchExecuteStatement(input: Input): Input {
  knows(input, 'Statements', 'ReturnConsumedCapacity');
  const statements = input['Statements'] as readonly Input[];
  const outcomes = statements.map((statement) => execute(statement));
  return {
    Responses: outcomes.map((code) => (code === undefined ? {} : { Error: { Code: code, Message: code } })),
    ConsumedCapacity: [],
  };
}

const OPERATIONS: Readonly<Record<string, (input: Input) => Input>> = {
  CreateTable: createTable,
  DescribeTable: ({ TableName: name }) => ({ Table: tableOf(name).description }),
  Query: query,
  Scan: scan,
  GetItem: getItem,
  BatchGetItem: batchGetItem,
  BatchWriteItem: batchWriteItem,
  PutItem: putItem,
  DeleteItem: deleteItem,
  TransactWriteItems: transactWriteItems,
  BatchExecuteStatement: batchExecuteStatement,
};

/** Replaces the SDK's HTTP client: a request in DynamoDB's JSON, and its response. */
function answer(request: { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array | string }) {
  const operation = request.headers['x-amz-target']?.split('.').at(-1) ?? '';
  const work = OPERATIONS[operation];
  if (work === undefined) throw new Error(`the memory store does not support ${operation}`);
  const reply = (statusCode: number, body: object) => ({
    response: {
      statusCode,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: Readable.from([Buffer.from(JSON.stringify(body))]),
    },
  });
  try {
    const input = JSON.parse(Buffer.from(request.body as string).toString()) as Input;
    const { ConsumedCapacity: capacity, ...output } = work(input);
    return reply(
      200,
      input['ReturnConsumedCapacity'] === undefined ? output : { ...output, ConsumedCapacity: capacity },
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return reply(400, { __type: `com.amazonaws.dynamodb.v20120810#${error.name}`, message: error.message });
  }
}

/** An in-memory database without tables. */
export function newMemoryDatabase(keyStyle: KeyStyle = 'readable', options: Partial<DatabaseOptions> = {}): Database {
  const name = `memory-${randomUUID()}`;
  const database = createDatabase({
    endpoint: 'http://memory.invalid',
    region: 'local',
    credentials: { accessKeyId: 'memory', secretAccessKey: 'memory' },
    tables: { entities: name, derived: `${name}-derived` },
    keyStyle,
    ...options,
  });
  const handle = (request: Parameters<typeof answer>[0]) => Promise.resolve().then(() => answer(request));
  // The memory store checks no signatures.
  const signer = () => Promise.resolve({ sign: (request: unknown) => Promise.resolve(request) });
  Object.assign(database.client.config, { requestHandler: { handle, destroy: () => undefined }, signer });
  return database;
}

/** Two empty in-memory tables, for a test file that reads. */
export function memoryDatabase(keyStyle: KeyStyle = 'readable'): Database {
  const database = newMemoryDatabase(keyStyle);
  for (const { request } of tableDefinitions(database.tables))
    createTable(JSON.parse(JSON.stringify(request)) as Input);
  return database;
}
