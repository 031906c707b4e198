import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';

import type { CellSums } from '../../geo/cell-sums.js';
import { PLACE_CHILD } from '../../model/cell.js';
import type { Database } from '../database.js';
import { isFailure } from '../request/failures.js';
import type { Call } from '../request/meter.js';
import { send } from '../request/send.js';
import { blockKey, type BlockDelta } from './blocks.js';

/** Records of one marker that are applied together. */
export interface MarkerRecords {
  readonly scope: string;
  readonly key: string;
  /** Sequence numbers of the first and last record, as formatted by `comparable`. */
  readonly first: string;
  readonly last: string;
}

/** A stream keeps records for a day, so nothing is delivered again after two days. */
const REMEMBERED_SECONDS = 2 * 24 * 3_600;
const LONGEST_SEQUENCE = 40;

/** Formats a sequence number as text that sorts like the number. */
export function comparable(sequence: string): string {
  return sequence.padStart(LONGEST_SEQUENCE, '0');
}

/** The loose attributes to add a block's changes to, by name. */
function looseOf(deltas: ReadonlyMap<string, CellSums>): [name: string, value: number][] {
  return [...deltas].flatMap(([child, { count, sumLng, sumLat }]): [string, number][] => {
    const counted: [string, number] = [`n${child}`, count];
    return child === PLACE_CHILD ? [counted] : [counted, [`x${child}`, sumLng], [`y${child}`, sumLat]];
  });
}

/** The transaction that adds to blocks unless these or later records of one of the markers have been applied. */
function applyRecordsRequest(
  { keys, tables }: Database,
  markers: readonly MarkerRecords[],
  blocks: readonly BlockDelta[],
  now: number,
): TransactWriteCommandInput {
  const ttl = Math.floor(now / 1_000) + REMEMBERED_SECONDS;
  const marks = markers.map(({ scope, key, first, last }) => ({
    Update: {
      TableName: tables.derived,
      Key: keys.applied(scope, key),
      UpdateExpression: 'SET #s = :last, #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(#s) OR #s < :first',
      ExpressionAttributeNames: { '#s': 's', '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':first': first, ':last': last, ':ttl': ttl },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  }));
  const sums = blocks.map(({ deltas, ...name }) => {
    const added = looseOf(deltas);
    return {
      Update: {
        TableName: tables.derived,
        Key: blockKey(keys, name),
        // The batch number that a server's consumer would use, so that a recount understands the blocks.
        UpdateExpression: `SET #b = if_not_exists(#b, :zero) ADD ${added.map((_, n) => `#s${n} :s${n}`).join(', ')}`,
        ExpressionAttributeNames: {
          '#b': 'b',
          ...Object.fromEntries(added.map(([attribute], n) => [`#s${n}`, attribute])),
        },
        ExpressionAttributeValues: { ':zero': 0, ...Object.fromEntries(added.map(([, sum], n) => [`:s${n}`, sum])) },
      },
    };
  });
  return { TransactItems: [...marks, ...sums] };
}

/** `applied`; `busy` to retry; or the markers with records applied before, each with the last such record. */
export type RecordsOutcome = 'applied' | 'busy' | ReadonlyMap<MarkerRecords, string>;

interface Reason {
  readonly Code?: string;
  readonly Item?: Readonly<Record<string, { readonly S?: string }>>;
}

/** Applies records in one transaction, all or nothing. If it throws, they may have been applied. */
export async function applyRecords(
  database: Database,
  markers: readonly MarkerRecords[],
  blocks: readonly BlockDelta[],
  now: number,
  call: Call,
): Promise<RecordsOutcome> {
  try {
    await send(database, 'transactWrite', applyRecordsRequest(database, markers, blocks, now), call);
    return 'applied';
  } catch (error) {
    if (!isFailure(error, 'TransactionCanceledException')) throw error;
    const { CancellationReasons: reasons = [] } = error as unknown as { CancellationReasons?: readonly Reason[] };
    const known = new Map<MarkerRecords, string>();
    for (const [index, marker] of markers.entries()) {
      const { Code, Item } = reasons[index] ?? {};
      if (Code === 'ConditionalCheckFailed') known.set(marker, Item?.['s']?.S ?? '');
    }
    return known.size > 0 ? known : 'busy';
  }
}
