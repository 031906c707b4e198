import type { Database } from '../../src/store/database.js';
import { itemBytes } from '../../src/store/request/item-size.js';

const BYTES_IN_A_UNIT = 1_024;
const ONLY_READ = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan', 'DescribeTable']);

type Item = Readonly<Record<string, unknown>>;
type WireItem = Readonly<Record<string, object>>;

/** A write on the wire: a put item, or one of the consumer's statements. */
interface WireWrite {
  readonly Item?: WireItem;
  readonly Statement?: string;
  readonly Parameters?: readonly object[];
}

/** The plain value of a DynamoDB attribute value such as `{"N": "5"}`. */
function plain(wire: object): unknown {
  const [type, value] = Object.entries(wire)[0] ?? [];
  if (type === 'N') return Number(value);
  if (type === 'M') return plainItem(value as WireItem);
  if (type === 'B') return Buffer.from(String(value), 'base64');
  if (type === 'L') return (value as readonly object[]).map(plain);
  return type === 'NULL' ? null : value;
}

const plainItem = (item: WireItem): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)]));

/** The attributes that a write sets, including the keys. */
function attributesOf({ Item, Statement = '', Parameters = [] }: WireWrite): Item {
  if (Item !== undefined) return plainItem(Item);
  const inserted = [...Statement.matchAll(/'(\w+)': \?/g)].map(([, name = '']) => name);
  const set = [...Statement.matchAll(/SET "(\w+)" = \?/g)].map(([, name = '']) => name);
  const names = Statement.startsWith('INSERT') ? inserted : [...set, 'pk', 'sk'];
  return Object.fromEntries(names.map((name, index) => [name, plain(Parameters[index] ?? { NULL: true })]));
}

/**
 * Counts the write units of every write that a client sends from now on, including retries and rejected ones, by AWS's rule:
 * 1 per started KB of the item before or after the write, whichever is larger; twice that in a transaction. It only sees
 * requests, so the tables must be empty at the start.
 */
export function countWriteUnits({ client }: Pick<Database, 'client'>): () => number {
  const items = new Map<string, Item>();
  let units = 0;

  function count(write: WireWrite, times: number): void {
    const changed = attributesOf(write);
    const name = `${String(changed['pk'])}\n${String(changed['sk'])}`;
    const before = items.get(name) ?? {};
    const after = write.Item === undefined ? { ...before, ...changed } : changed;
    items.set(name, after);
    units += times * Math.ceil(Math.max(itemBytes(before), itemBytes(after)) / BYTES_IN_A_UNIT);
  }

  client.middlewareStack.add(
    (next) => (args) => {
      const { headers, body } = args.request as {
        headers: Readonly<Record<string, string>>;
        body: string | Uint8Array;
      };
      const operation = String(headers['x-amz-target']).replace(/^.*\./, '');
      const request = JSON.parse(Buffer.from(body).toString()) as Readonly<Record<string, readonly WireWrite[]>>;
      const batches = (request['RequestItems'] ?? {}) as Readonly<
        Record<string, readonly { PutRequest?: WireWrite }[]>
      >;
      const transacted = (request['TransactItems'] ?? []) as readonly { readonly Put?: WireWrite }[];
      if (operation === 'PutItem') count(request as WireWrite, 1);
      else if (operation === 'BatchExecuteStatement') request['Statements']?.forEach((write) => count(write, 1));
      else if (operation === 'TransactWriteItems') transacted.forEach(({ Put }) => count(Put ?? {}, 2));
      else if (operation === 'BatchWriteItem')
        for (const { PutRequest } of Object.values(batches).flat()) count(PutRequest ?? {}, 1);
      else if (!ONLY_READ.has(operation)) throw new Error(`unknown write operation ${operation}`);
      return next(args);
    },
    // After the SDK's retries, so that each attempt is counted.
    { step: 'deserialize', priority: 'high', name: 'countWriteUnits' },
  );
  return () => units;
}
