import { isDeepStrictEqual } from 'node:util';
import type { DeleteCommandInput, PutCommandInput, UpdateCommandInput } from '@aws-sdk/lib-dynamodb';

import { CellportError } from '../../errors.js';
import type { Key } from '../../keys/document-id.js';
import { retry } from '../../retry.js';
import type { Call, Item } from '../database.js';
import { ABSENT } from './create-once.js';
import { AnswerLost, failureOf, holds, isFailure, mayHaveBeenApplied, OutcomeUnknown } from './failures.js';
import { CONFLICT_RETRIES, TooManyUpdates } from './pacing.js';
import { send } from './send.js';
import { transactOnce } from './transact.js';
import { asStored, itemOf, type WireMap } from './wire.js';

/**
 * The part of an UpdateItem that gives these attributes the values of `next`, and removes those that it lacks.
 * Attribute n of the list is `#n` in expressions, and its value `:n`.
 */
export function updateTo(names: readonly string[], next: Item) {
  const all = names.map((name, n) => ({ name, n, value: next[name] }));
  const put = all.filter(({ value }) => value !== undefined);
  const set = put.map(({ n }) => `#${n} = :${n}`).join(', ');
  const remove = all
    .filter(({ value }) => value === undefined)
    .map(({ n }) => `#${n}`)
    .join(', ');
  return {
    UpdateExpression: [set && `SET ${set}`, remove && `REMOVE ${remove}`].filter(Boolean).join(' '),
    ExpressionAttributeNames: Object.fromEntries(all.map(({ n, name }) => [`#${n}`, name])),
    ExpressionAttributeValues: Object.fromEntries(put.map(({ n, value }) => [`:${n}`, value])),
  };
}

/** An item before and after a write; undefined if it did not exist, or no longer does. */
export interface ConditionalChange {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** Attributes that stay until an item is deleted. */
const INCARNATION = ['life', 'createdAt'] as const;
/** Attributes that show whether an item has changed: `version` counts the changes to one incarnation. */
const STATE = ['version', ...INCARNATION] as const;

/** The condition that an item exists and has not changed since it was read. */
export function asFound(found: Item) {
  const there = STATE.filter((name) => found[name] !== undefined);
  const equal = STATE.map((name) =>
    there.includes(name) ? `#found_${name} = :found_${name}` : `attribute_not_exists(#found_${name})`,
  );
  const values = Object.fromEntries(there.map((name) => [`:found_${name}`, found[name]]));
  return {
    ConditionExpression: ['attribute_exists(pk)', ...equal].join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(STATE.map((name) => [`#found_${name}`, name])),
    ...(there.length === 0 ? {} : { ExpressionAttributeValues: values }),
  };
}

/** A marker's properties, with `m`; `redrawMarker` may meanwhile have changed that alone, without the version. */
const LAID_IN = ['mc', 'properties'];

/**
 * The UpdateItem that sets only the differences between `found` and `next`, if the item has not changed since it was
 * read.
 */
function updateRequest(table: string, found: Item, next: Item): UpdateCommandInput {
  const differs = (name: string) => !isDeepStrictEqual(found[name], next[name]);
  const isRelaid = LAID_IN.some(differs);
  const names = Object.keys({ ...found, ...next }).filter((name) => differs(name) || (isRelaid && name === 'm'));
  const update = updateTo(names, next);
  const condition = asFound(found);
  return {
    TableName: table,
    Key: { pk: found['pk'], sk: found['sk'] },
    ...update,
    ...condition,
    ExpressionAttributeNames: { ...condition.ExpressionAttributeNames, ...update.ExpressionAttributeNames },
    ExpressionAttributeValues: { ...condition.ExpressionAttributeValues, ...update.ExpressionAttributeValues },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** The DeleteItem of an item that has not changed since it was read. */
function deleteRequest(table: string, found: Item): DeleteCommandInput {
  return {
    TableName: table,
    Key: { pk: found['pk'], sk: found['sk'] },
    ...asFound(found),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** A completed write with the item it left, or a rejected one with the item found instead. */
type Outcome = { readonly done: Item | undefined } | { readonly found: Item | undefined };

/**
 * Writes the next state of an item, or deletes it, with one write that is conditional on the item being as found. Throws
 * UNAVAILABLE if that may have been done, unanswered, before others changed the item: done again, it would undo theirs.
 */
export async function changeOnce(call: Call, found: Item, next: Item | undefined): Promise<Outcome> {
  const table = call.db.tables.entities;
  try {
    if (next === undefined) {
      await send(call, 'delete', deleteRequest(table, found));
      return { done: undefined };
    }
    const { Attributes } = await send(call, 'update', updateRequest(table, found, next));
    return { done: Attributes };
  } catch (error) {
    if (!isFailure(error, 'ConditionalCheckFailedException')) throw error;
    call.meter.writes += 1;
    const { Item: wire } = failureOf(error);
    const now = wire === undefined ? undefined : itemOf(wire as WireMap);
    if (!mayHaveBeenApplied(error)) return { found: now };
    const isSame = INCARNATION.every((name) => now?.[name] === found[name]);
    if (next === undefined) return isSame ? { found: now } : { done: undefined };
    if (isDeepStrictEqual(now, asStored(next))) return { done: now };
    // Of two writes to one version, only one is made: here, that of another.
    if (isSame && Number(now?.['version']) <= Number(next['version'])) return { found: now };
    throw new OutcomeUnknown(error);
  }
}

/** An item, and what is to become of it: see `changeItem`. */
interface Decision {
  readonly found: Item;
  readonly next: Item | undefined;
}

/**
 * Changes one item of the entities table with a read and one conditional write that sets only the differences. `decide`
 * receives the item and returns its next state, the item itself to leave it, or undefined to delete it; it throws if
 * the item must not be changed, in particular if it does not exist. If another write came in between, it decides again.
 * Throws CONFLICT after too many concurrent updates.
 */
export async function changeItem(
  call: Call,
  read: () => Promise<Item | undefined>,
  decide: (found: Item | undefined) => Decision | Promise<Decision>,
): Promise<ConditionalChange> {
  let current = await read();
  async function decideAndWrite(): Promise<ConditionalChange> {
    const { found, next } = await decide(current);
    if (next === found) return { before: found, after: found };
    const outcome = await changeOnce(call, found, next);
    if ('done' in outcome) return { before: found, after: outcome.done };
    current = outcome.found;
    throw new TooManyUpdates();
  }
  return retry(decideAndWrite, { ...CONFLICT_RETRIES, signal: call.signal });
}

/** Reads one item of the entities table, strongly consistent; undefined if it does not exist. */
export async function readItem(call: Call, key: Key): Promise<Item | undefined> {
  const { pk, sk } = key;
  const request = { TableName: call.db.tables.entities, Key: { pk, sk }, ConsistentRead: true };
  return (await send(call, 'get', request)).Item;
}

/** Throws CONFLICT, with both versions in its details, if an item does not have the version that a client expects. */
export function checkVersion(what: string, found: Item, expected: number | null | undefined): void {
  const { version } = found;
  if (expected === undefined || expected === null || expected === version) return;
  const message = `${what} has version ${String(version)}, not ${expected}`;
  throw new CellportError('CONFLICT', message, { expectedVersion: expected, version });
}

/** The PutItem of an item that must not exist yet. */
export function putIfAbsentRequest(table: string, item: Item): PutCommandInput {
  return { TableName: table, Item: { ...item }, ConditionExpression: ABSENT };
}

/** By how much the clocks of two servers may differ. */
const CLOCKS_DIFFER_MS = 5_000;

/** Whether an item was there before another one was made. */
const isOlder = (found: Item | undefined, made: Item): boolean =>
  Date.parse(String(found?.['createdAt'])) + CLOCKS_DIFFER_MS < Date.parse(String(made['createdAt']));

/**
 * Puts an item that must not exist yet, with one conditional write; returns false if its key is taken. Also returns
 * true if an attempt was applied and its response lost. Throws UNAVAILABLE if that may be and there is none, or another one.
 */
export async function putIfAbsent(call: Call, table: string, item: Item): Promise<boolean> {
  try {
    await send(call, 'put', putIfAbsentRequest(table, item));
    return true;
  } catch (error) {
    const isRefused = isFailure(error, 'ConditionalCheckFailedException');
    if (!isRefused && !(error instanceof AnswerLost)) throw error;
    if (isRefused) call.meter.writes += 1;
    if (isRefused && !mayHaveBeenApplied(error)) return false;
    const Key = { pk: item['pk'], sk: item['sk'] };
    const { Item: found } = await send(call, 'get', { TableName: table, Key, ConsistentRead: true });
    // Others may have changed it since.
    const isOwn =
      found?.['life'] === undefined ? isDeepStrictEqual(found, asStored(item)) : found['life'] === item['life'];
    if (isOwn) return true;
    if (isOlder(found, item)) return false;
    throw new OutcomeUnknown(error);
  }
}

/**
 * Replaces version `item.version - 1` of an item; the first version is 1. Returns false if another write came first,
 * which may have been this one with its response lost.
 */
export function putVersion(call: Call, table: string, item: Item & { readonly version: number }): Promise<boolean> {
  const { version } = item;
  const condition = {
    ConditionExpression: '#version = :before',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':before': version - 1 },
  };
  const first = putIfAbsentRequest(table, item);
  return holds(send(call, 'put', version === 1 ? first : { ...first, ...condition }));
}

/** Puts items that must not exist yet in one transaction; returns false, having put none, if one of their keys is taken. */
export function putTogetherIfAbsent(call: Call, table: string, items: readonly Item[]): Promise<boolean> {
  const puts = items.map((item) => ({ Put: putIfAbsentRequest(table, item) }));
  return transactOnce(call, puts);
}

/** Why DynamoDB refuses a statement of `replaceStatement`: the item has changed. */
export const REFUSALS: ReadonlySet<string> = new Set(['ConditionalCheckFailed', 'DuplicateItem']);

/**
 * The statement that sets attributes of an item if its attribute `b` is still `seen`; or that inserts it, if `seen` is
 * undefined and it does not exist yet.
 */
export function replaceStatement(table: string, { pk, sk }: Key, attributes: Item, seen: number | undefined) {
  const values = Object.values(attributes);
  if (seen === undefined) {
    const names = ['pk', 'sk', ...Object.keys(attributes)].map((name) => `'${name}': ?`);
    return { Statement: `INSERT INTO "${table}" VALUE {${names.join(', ')}}`, Parameters: [pk, sk, ...values] };
  }
  const clauses = Object.keys(attributes).map((name) => `SET "${name}" = ?`);
  const Statement = `UPDATE "${table}" ${clauses.join(' ')} WHERE pk = ? AND sk = ? AND b = ?`;
  return { Statement, Parameters: [...values, pk, sk, seen] };
}
