import { isDeepStrictEqual } from 'node:util';

import type { Clock } from '../../clock.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { Log } from '../../log.js';
import { placeParent } from '../../model/cell.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { retry } from '../../retry.js';
import { comparable, type MarkerRecords, type RecordsOutcome } from '../../store/cell/apply-records.js';
import type { BlockDelta } from '../../store/cell/blocks.js';
import type { DeadLetter } from '../../store/cell/dead-letters.js';
import { blockChanges } from '../cells/apply.js';
import { CellFold } from '../cells/fold.js';
import { changeOf, type Contribution, type StreamRecord } from '../change.js';
import { deadLetterOf } from './record-fold.js';

export interface ApplyRecordsOptions {
  readonly keys: Keyspace;
  readonly clock: Clock;
  readonly log: Log;
  /** When it is aborted, the remaining records must be delivered again. */
  readonly signal: AbortSignal;
  readonly putDeadLetters: (records: readonly DeadLetter[]) => Promise<void>;
  /** One transaction. */
  readonly apply: (markers: readonly MarkerRecords[], blocks: readonly BlockDelta[]) => Promise<RecordsOutcome>;
}

/** A record that changes cells. */
interface Effect {
  readonly record: StreamRecord;
  /** In the format of `comparable`. */
  readonly sequence: string;
  readonly scope: string;
  readonly key: string;
  readonly before: Contribution | undefined;
  readonly after: Contribution | undefined;
}

/** A few seconds in total. Lambda redelivers records that still fail. */
const MOST_ATTEMPTS = 9;
/** AWS Lambda does not tell which shard its records are from. */
const SHARD = 'lambda';

const markerKey = ({ scope, key }: { readonly scope: string; readonly key: string }) => `${scope}\n${key}`;

/** Names of the items that an effect may change: blocks, and the last record of its marker. */
function touched({ scope, key, before, after }: Effect): string[] {
  const blocks = [before, after].flatMap((contribution) =>
    contribution === undefined
      ? []
      : [
          ...Array.from(contribution.cell, (_, length) => `${scope}/${contribution.cell.slice(0, length)}`),
          ...contribution.place.map((_, index) => `${scope}/${placeParent(contribution.place.slice(0, index + 1))}`),
        ],
  );
  return [markerKey({ scope, key }), ...blocks];
}

/** Splits effects, in order, into chunks that each fit into one transaction. */
function pieces(effects: readonly Effect[]): Effect[][] {
  const all: Effect[][] = [];
  let items = new Set<string>();
  for (const effect of effects) {
    const piece = all.at(-1);
    const names = touched(effect);
    if (piece !== undefined && new Set([...items, ...names]).size <= REQUEST_LIMITS.transactWrite) piece.push(effect);
    else {
      all.push([effect]);
      items = new Set();
    }
    for (const name of names) items.add(name);
  }
  return all;
}

/** The markers and blocks of a transaction. */
function transactionOf(effects: readonly Effect[]) {
  const fold = new CellFold();
  const markers = new Map<string, MarkerRecords>();
  for (const { scope, key, sequence, before, after } of effects) {
    const name = markerKey({ scope, key });
    const first = markers.get(name)?.first ?? sequence;
    markers.set(name, { scope, key, first, last: sequence });
    if (before !== undefined) fold.add(scope, before, -1);
    if (after !== undefined) fold.add(scope, after, 1);
  }
  return { markers: [...markers.values()], blocks: blockChanges(fold.changes()) };
}

/** Adds the records of a chunk to the cells, except those added before. */
async function applyPiece(options: ApplyRecordsOptions, piece: readonly Effect[]): Promise<void> {
  const { clock, log, signal, apply } = options;
  let left = piece;
  const attempt = async (): Promise<void> => {
    while (left.length > 0) {
      signal.throwIfAborted();
      const { markers, blocks } = transactionOf(left);
      const outcome = await apply(markers, blocks);
      if (outcome === 'applied') return;
      if (outcome === 'busy') throw new Error('too many concurrent updates of the same cells');
      const until = new Map([...outcome].map(([marker, last]) => [markerKey(marker), last]));
      const fresh = left.filter((effect) => effect.sequence > (until.get(markerKey(effect)) ?? ''));
      if (fresh.length === left.length) throw new Error('DynamoDB did not report which records were applied before');
      left = fresh;
    }
  };
  // If an attempt succeeded although its response was lost, the next one finds that its records were applied.
  const onRetry = (err: unknown, tries: number) => log.debug({ err, attempt: tries }, 'Cannot apply records; retrying');
  await retry(attempt, { attempts: MOST_ATTEMPTS, onRetry, clock, signal });
}

/**
 * Adds records to the cells exactly once, however often and in whichever batches they are delivered: each marker's last
 * record is stored in the transaction that adds to the cells. The records of one marker must arrive in order. Returns
 * the sequence number from which to redeliver; undefined if all are applied.
 */
export async function applyStreamRecords(
  options: ApplyRecordsOptions,
  records: readonly StreamRecord[],
): Promise<string | undefined> {
  const { keys, log, putDeadLetters } = options;
  const effects: Effect[] = [];
  const deadLetters: DeadLetter[] = [];
  for (const record of records) {
    const change = changeOf(keys, record);
    if (change === undefined) continue;
    const { scope, key, before, after, fault } = change;
    if (fault !== undefined) deadLetters.push(deadLetterOf(SHARD, record, fault));
    if (scope === undefined || key === undefined || isDeepStrictEqual(before, after)) continue;
    effects.push({ record, sequence: comparable(record.sequence), scope, key, before, after });
  }
  let next = records[0]?.sequence;
  try {
    if (deadLetters.length > 0) await putDeadLetters(deadLetters);
    for (const piece of pieces(effects)) {
      next = piece[0]?.record.sequence;
      await applyPiece(options, piece);
    }
    return undefined;
  } catch (err) {
    log.error({ err, from: next }, 'Cannot apply records; they must be delivered again');
    return next;
  }
}
