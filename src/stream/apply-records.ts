import { isDeepStrictEqual } from 'node:util';

import type { Clock } from '../clock.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import {
  ITEMS_IN_A_TRANSACTION,
  type MarkerRecords,
  type RecordsOutcome,
  comparable,
} from '../store/cell/apply-records.js';
import type { BlockDelta } from '../store/cell/blocks.js';
import { placeParent } from '../model/cell.js';
import type { DeadLetter } from '../store/cell/stream-state.js';
import { blockChanges } from './apply.js';
import { type Contribution, type StreamRecord, changeOf } from './change.js';
import { createFold } from './fold.js';
import { deadLetterOf } from './reader.js';
import { pause } from './shared-state.js';

/** What records are applied with. */
export interface ApplyRecordsOptions {
  readonly keys: Pick<Keyspace, 'parseMarker' | 'isUnderMarker'>;
  readonly clock: Clock;
  readonly log: Log;
  /** When it is aborted, what is not done by then has to come again. */
  readonly signal: AbortSignal;
  readonly putDeadLetters: (records: readonly DeadLetter[]) => Promise<void>;
  /** One transaction. */
  readonly apply: (markers: readonly MarkerRecords[], blocks: readonly BlockDelta[]) => Promise<RecordsOutcome>;
}

/** A record that changes cells. */
interface Effect {
  readonly record: StreamRecord;
  /** As `comparable` writes it. */
  readonly sequence: string;
  readonly scope: string;
  readonly key: string;
  readonly before: Contribution | undefined;
  readonly after: Contribution | undefined;
}

/** Some seconds in all: what still fails then comes again from outside. */
const MOST_ATTEMPTS = 8;
/** An AWS Lambda is not told which shard its records are of. */
const SHARD = 'lambda';

const nameOf = ({ scope, key }: Pick<Effect, 'scope' | 'key'>) => `${scope}\n${key}`;

/** Names of the blocks that an effect may change, and of what remembers its marker. */
function touched({ scope, key, before, after }: Effect): string[] {
  const blocks = [before, after].flatMap((contribution) =>
    contribution === undefined
      ? []
      : [
          ...Array.from(contribution.cell, (_, length) => `${scope}/${contribution.cell.slice(0, length)}`),
          ...contribution.place.map((_, index) => `${scope}/${placeParent(contribution.place.slice(0, index + 1))}`),
        ],
  );
  return [nameOf({ scope, key }), ...blocks];
}

/** Cuts effects, in their order, into pieces of which each fits into a transaction. */
function pieces(effects: readonly Effect[]): Effect[][] {
  const all: Effect[][] = [];
  let items = new Set<string>();
  for (const effect of effects) {
    const piece = all.at(-1);
    const names = touched(effect);
    if (piece !== undefined && new Set([...items, ...names]).size <= ITEMS_IN_A_TRANSACTION) piece.push(effect);
    else {
      all.push([effect]);
      items = new Set();
    }
    for (const name of names) items.add(name);
  }
  return all;
}

/** What a transaction of some effects is made of. */
function transactionOf(effects: readonly Effect[]) {
  const fold = createFold();
  const markers = new Map<string, MarkerRecords>();
  for (const { scope, key, sequence, before, after } of effects) {
    const name = nameOf({ scope, key });
    const first = markers.get(name)?.first ?? sequence;
    markers.set(name, { scope, key, first, last: sequence });
    if (before !== undefined) fold.add(scope, before, -1);
    if (after !== undefined) fold.add(scope, after, 1);
  }
  return { markers: [...markers.values()], blocks: blockChanges(fold.changes()) };
}

/** Brings a piece into the cells, but for those records that they have already. */
async function applyPiece(options: ApplyRecordsOptions, piece: readonly Effect[]): Promise<void> {
  const { clock, log, signal, apply } = options;
  let left = piece;
  for (let attempt = 0; left.length > 0; attempt += 1) {
    signal.throwIfAborted();
    const { markers, blocks } = transactionOf(left);
    try {
      const outcome = await apply(markers, blocks);
      if (outcome === 'applied') return;
      if (outcome === 'busy') throw new Error('others write to the same cells');
      const until = new Map([...outcome].map(([marker, last]) => [nameOf(marker), last]));
      left = left.filter((effect) => effect.sequence > (until.get(nameOf(effect)) ?? ''));
    } catch (err) {
      // Whether it was done although its answer was lost, the next attempt is told.
      if (attempt >= MOST_ATTEMPTS) throw err;
      log.debug({ err, attempt }, 'records could not be applied and will be tried again');
      await pause(clock, Math.min(attempt, 5), signal);
    }
  }
}

/**
 * Brings records into the cells exactly once, however often they come and in whatever pieces: each marker's last record
 * is remembered in the transaction that adds to the cells. Those of one marker have to come in their order. Gives the
 * sequence number from which on they are to come again; undefined where all are done.
 */
export async function applyStreamRecords(
  options: ApplyRecordsOptions,
  records: readonly StreamRecord[],
): Promise<string | undefined> {
  const { keys, log, putDeadLetters } = options;
  const effects: Effect[] = [];
  const aside: DeadLetter[] = [];
  for (const record of records) {
    const change = changeOf(keys, record);
    if (change === undefined) continue;
    const { scope, before, after, fault } = change;
    if (fault !== undefined) aside.push(deadLetterOf(SHARD, record, fault));
    const [pk, sk] = [record.keys['pk']?.['S'], record.keys['sk']?.['S']];
    const key = keys.parseMarker({ pk: String(pk), sk: String(sk) })?.key;
    if (scope === undefined || key === undefined) continue;
    if (isDeepStrictEqual(before, after)) continue;
    effects.push({ record, sequence: comparable(record.sequence), scope, key, before, after });
  }
  let next = records[0]?.sequence;
  try {
    if (aside.length > 0) await putDeadLetters(aside);
    for (const piece of pieces(effects)) {
      next = piece[0]?.record.sequence;
      await applyPiece(options, piece);
    }
    return undefined;
  } catch (err) {
    log.error({ err, from: next }, 'records could not be applied and have to come again');
    return next;
  }
}
