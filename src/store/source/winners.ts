import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Newest } from '../../sources/marker.js';
import type { Call } from '../database.js';
import { batchGet, type BatchGetOptions } from '../request/batches.js';
import { REFUSALS, replaceStatement } from '../request/conditional-write.js';
import { chunks, mapConcurrently } from '../request/pacing.js';
import { send } from '../request/send.js';

/** One of the items of a source with the key of one marker. */
export interface Contender {
  /** Its primary key in wire format, as JSON. */
  readonly item: string;
  /** The contender with the greatest order is the marker. */
  readonly order?: Newest;
  /** What maps draw of it, as JSON of an image of Cellport's own table; undefined if it is rejected. */
  readonly image?: string | undefined;
}

/** What is known of the contenders for the key of a marker. */
export interface Ranking {
  /** The best ones; the first is the winner, which is the marker. */
  readonly best: readonly Contender[];
  /** No other one has a greater order than this; null if there is no other. */
  readonly others?: Newest | null;
}

/** The contenders for a key, as a batch left them. */
export interface Winner {
  readonly batch: number;
  /** That of the last record of the key, or greater, as it grows with each change. */
  readonly sequence: string;
  /** The image of the winner before the batch. */
  readonly before?: string | undefined;
  readonly ranking: Ranking;
}

/** What to store for a key if the stored winner is still that of the batch `seen`; undefined if none is stored. */
export interface WinnerWrite {
  readonly key: string;
  readonly seen: number | undefined;
  readonly next: Winner;
}

/** A stream keeps records for a day, so no batch is replayed after two. */
const REMEMBERED_SECONDS = 2 * 24 * 3_600;
const BATCHES_AT_A_TIME = 4;

/** JSON has no integers of more than 53 bits. */
const toJson = (_name: string, value: unknown) => (typeof value === 'bigint' ? { integer: String(value) } : value);
function ofJson(_name: string, value: unknown): unknown {
  const { integer } = Object(value) as { readonly integer?: string };
  return integer === undefined ? value : BigInt(integer);
}

/** Reads the winners of keys, in their order. */
export async function readWinners(
  call: Call,
  scope: string,
  wanted: readonly string[],
  options: BatchGetOptions = {},
): Promise<(Winner | undefined)[]> {
  const names = wanted.map((key) => call.db.keys.winner(scope, key));
  const items = await batchGet(call, call.db.tables.derived, names, options);
  return items.map((item) => item && (JSON.parse(String(item['w']), ofJson) as Winner));
}

/** Stores winners, each only if the stored one has not changed since it was read; returns for each whether it did. */
export async function replaceWinners(call: Call, scope: string, writes: readonly WinnerWrite[]): Promise<boolean[]> {
  const { keys, tables, clock } = call.db;
  const statements = writes.map(({ key, seen, next }) => {
    const ttl = next.ranking.best.length > 0 ? null : Math.ceil(clock.wall() / 1_000) + REMEMBERED_SECONDS;
    const attributes = { b: next.batch, w: JSON.stringify(next, toJson), ttl };
    return replaceStatement(tables.derived, keys.winner(scope, key), attributes, seen);
  });
  const answers = await mapConcurrently(chunks(statements, REQUEST_LIMITS.batchExecute), BATCHES_AT_A_TIME, (some) =>
    send(call, 'batchExecute', { Statements: some }),
  );
  return answers
    .flatMap(({ Responses = [] }) => Responses)
    .map(({ Error: error }) => {
      if (error !== undefined && !REFUSALS.has(error.Code ?? ''))
        throw new Error(`a winner was not written: ${error.Code}`);
      return error === undefined;
    });
}
