import type { BatchExecuteStatementCommandInput } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';

import type { CellSums } from '../../geo/cell-sums.js';
import type { Key, Keyspace } from '../../keys/keyspace.js';
import { cellBlock, placeOfParent, type CellBlock } from '../../model/cell.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Call, Database } from '../database.js';
import { batchGet, type BatchGetOptions } from '../request/batches.js';
import { REFUSALS, replaceStatement } from '../request/conditional-write.js';
import { chunks } from '../request/pacing.js';
import { send } from '../request/send.js';
import { transactOnce, type Write } from '../request/transact.js';
import { attributesOfBlock, childrenOfItem } from './cells.js';

/** Identifies a block: its collection's scope and its parent, for cells or for a place. */
export interface BlockName {
  readonly scope: string;
  readonly parent: string;
}

/** Amounts to add to the children of a block. */
export interface BlockDelta extends BlockName {
  readonly deltas: ReadonlyMap<string, CellSums>;
}

/** A block as read. A child without markers stays in it while its sums are not zero: later records subtract them. */
export interface StoredBlock {
  /** The last batch that changed it; undefined if its item does not exist. */
  readonly batch: number | undefined;
  readonly children: ReadonlyMap<string, CellSums>;
}

export const ABSENT_BLOCK: StoredBlock = { batch: undefined, children: new Map() };

/** What a block will contain, to be written only if it has not changed since it was read. */
export interface BlockWrite extends BlockName {
  readonly found: StoredBlock;
  readonly next: { readonly batch: number; readonly children: ReadonlyMap<string, CellSums> };
}

/** `refused`: the block has changed since it was read. `failed`: it may or may not have been written. */
export type BlockOutcome = 'written' | 'refused' | 'failed';

/** The key of a block of cells, or of the count of a place. */
export function blockKey(keys: Keyspace, { scope, parent }: BlockName): Key {
  const place = placeOfParent(parent);
  return place === undefined ? keys.cell(scope, parent) : keys.placeCount(scope, place);
}

/** Reads blocks, in the order of their names. */
export async function readBlocks(call: Call, names: readonly BlockName[], consistent: boolean): Promise<StoredBlock[]> {
  const { keys, tables } = call.db;
  const wanted = names.map((name) => blockKey(keys, name));
  const items = await batchGet(call, tables.derived, wanted, { consistent });
  return items.map((item) => {
    if (item === undefined) return ABSENT_BLOCK;
    const { b } = item;
    return { batch: typeof b === 'number' ? b : 0, children: childrenOfItem(item) };
  });
}

/**
 * Reads blocks of one collection's cells, in the order of their parents; a block that was never written is empty, with
 * batch 0.
 */
export async function getBlocks(
  call: Call,
  scope: string,
  parents: readonly string[],
  { consistent = false }: BatchGetOptions = {},
): Promise<CellBlock[]> {
  const names = parents.map((parent) => ({ scope, parent }));
  const blocks = await readBlocks(call, names, consistent);
  return parents.map((parent, index) => {
    const { batch = 0, children } = blocks[index] ?? ABSENT_BLOCK;
    return cellBlock(parent, batch, children);
  });
}

/**
 * The BatchExecuteStatement that replaces sums in at most 25 blocks. A block that did not exist takes an INSERT, which
 * fails if it exists by now; any other takes an UPDATE with a condition. It costs the write units of as many UpdateItem
 * calls, and a tenth of their time in this process.
 */
export function replaceBlocksRequest(
  keys: Keyspace,
  table: string,
  blocks: readonly BlockWrite[],
): BatchExecuteStatementCommandInput {
  const statements = blocks.map(({ found, next, ...name }) => {
    const attributes = { b: next.batch, ...attributesOfBlock(name.parent, next.children) };
    return replaceStatement(table, blockKey(keys, name), attributes, found.batch);
  });
  return { Statements: statements };
}

/** The engine executes commands one by one: requests queued here do not block reads queued there. */
const inTurn = pLimit(1);

/** The write of one block in a transaction, under the same conditions as its statement. */
function transactItem({ keys, tables }: Database, { found, next, ...name }: BlockWrite): Write {
  const Item = { ...blockKey(keys, name), b: next.batch, ...attributesOfBlock(name.parent, next.children) };
  const put = { TableName: tables.derived, Item };
  if (found.batch === undefined) return { Put: { ...put, ConditionExpression: 'attribute_not_exists(pk)' } };
  return {
    Put: { ...put, ConditionExpression: 'b = :seen', ExpressionAttributeValues: { ':seen': found.batch } },
  };
}

/**
 * Replaces sums in all blocks or, if one of them has changed, in none; returns whether it did. Statements would take
 * DynamoDB Local twice as long, because it parses them.
 */
function replaceTogether(call: Call, blocks: readonly BlockWrite[]): Promise<boolean> {
  const writes = blocks.map((block) => transactItem(call.db, block));
  return inTurn(() => transactOnce(call, writes));
}

async function replaceBatch(call: Call, blocks: readonly BlockWrite[]): Promise<BlockOutcome[]> {
  const request = replaceBlocksRequest(call.db.keys, call.db.tables.derived, blocks);
  const { Responses = [] } = await send(call, 'batchExecute', request);
  return blocks.map((_, index) => {
    const code = Responses[index]?.Error?.Code;
    if (code === undefined) return Responses[index] === undefined ? 'failed' : 'written';
    return REFUSALS.has(code) ? 'refused' : 'failed';
  });
}

/**
 * Replaces sums in blocks independently; returns their outcomes in order. Throws THROTTLED, UNAVAILABLE or DynamoDB's
 * own error only if no outcome is known; some blocks may have been written then.
 */
export async function replaceBlocks(call: Call, blocks: readonly BlockWrite[]): Promise<BlockOutcome[]> {
  if (call.db.waitsForDisk && (await replaceTogether(call, blocks))) return blocks.map(() => 'written');
  // A batch takes an eighth of the CPU of single statements.
  const batches = chunks(blocks, REQUEST_LIMITS.batchExecute);
  return (await Promise.all(batches.map((batch) => replaceBatch(call, batch)))).flat();
}
