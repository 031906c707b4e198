import type { Keyspace } from '../../keys/keyspace.js';
import type { Call, Database } from '../database.js';
import { putInBulk } from '../request/batches.js';
import { queryResponses } from '../table/query-responses.js';

/** Sequence numbers are documented to be unique only within their shard. */
interface LetterPosition {
  readonly shard: string;
  readonly sequence: string;
}

/** A record that could not be understood, stored for inspection. */
export interface DeadLetter extends LetterPosition {
  readonly reason: string;
  /** Key of the item as JSON, truncated if it is long. */
  readonly item: string;
  /** INSERT, MODIFY or REMOVE. */
  readonly event: string;
}

/** Some dead letters of a consumer, sorted by position. */
export interface DeadLetters {
  readonly letters: readonly DeadLetter[];
  /** The position of the last one; null if there are no more. */
  readonly next: string | null;
}

const positionOf = ({ sequence, shard }: LetterPosition) => `${sequence}.${shard}`;

const rangeOf = ({ keys }: Database, consumer: string) =>
  ({ index: 'derived', ...keys.deadLetterPartition(consumer) }) as const;

/** The key of a dead letter. */
export const deadLetterKey = (keys: Keyspace, consumer: string, letter: LetterPosition) =>
  keys.deadLetter(consumer, positionOf(letter));

/** Stores dead letters; storing them again changes nothing. */
export async function putDeadLetters(call: Call, consumer: string, records: readonly DeadLetter[]): Promise<void> {
  const items = records.map((record) => ({ ...deadLetterKey(call.db.keys, consumer, record), ...record }));
  await putInBulk(call, call.db.tables.derived, items);
}

/** The first dead letters after a position, by sequence number. */
export async function readDeadLetters(
  call: Call,
  consumer: string,
  { first, after }: { readonly first: number; readonly after?: string | undefined },
): Promise<DeadLetters> {
  const behind = after === undefined ? undefined : { ...call.db.keys.deadLetter(consumer, after) };
  const range = rangeOf(call.db, consumer);
  const letters: DeadLetter[] = [];
  // One more tells whether there are others.
  for await (const items of queryResponses(call, range, first + 1, behind))
    letters.push(...items.map(({ pk: _pk, sk: _sk, ...letter }) => letter as unknown as DeadLetter));
  const last = letters.length > first ? letters[first - 1] : undefined;
  return { letters: letters.slice(0, first), next: last === undefined ? null : positionOf(last) };
}

/** The number of dead letters, which reads all of them. */
export async function countDeadLetters(call: Call, consumer: string): Promise<number> {
  const range = { ...rangeOf(call.db, consumer), attributes: ['sk'] };
  let count = 0;
  for await (const items of queryResponses(call, range)) count += items.length;
  return count;
}
