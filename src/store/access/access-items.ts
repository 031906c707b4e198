import { createHash, randomBytes } from 'node:crypto';

import type { Budget } from '../../model/budget.js';
import type { Quotas } from '../../model/quotas.js';
import type { Call, Database, Item } from '../database.js';
import { readItem } from '../request/conditional-write.js';
import { holds } from '../request/failures.js';
import { send } from '../request/send.js';
import { transact, type Write } from '../request/transact.js';
import { queryResponses } from '../table/query-responses.js';

/** An API key as it is stored: of the key itself, only its hash. */
export interface StoredKey {
  /** SHA-256 in hexadecimal digits. */
  readonly hash: string;
  /** The first digits of the hash, which name it for people. */
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly variables: Readonly<Record<string, unknown>>;
  /** Its own; those of its roles if omitted. */
  readonly budget?: Budget | undefined;
  readonly quotas?: Quotas | undefined;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  /** RFC 3339, UTC; null for never. */
  readonly expiresAt: string | null;
  /** The hour of its last use, RFC 3339; null before the first. */
  readonly usedAt: string | null;
}

/** The version of all that says who may do what: every change raises it. Strongly consistent; 0 before the first. */
export async function accessVersion(call: Call): Promise<number> {
  const item = await readItem(call, call.db.keys.access('version'));
  return typeof item?.['n'] === 'number' ? item['n'] : 0;
}

export interface StoredRules {
  /** As they were set. */
  readonly json: string;
  /** 256 random bits in Base64, made when rules are set for the first time: all servers encrypt cursors with it. */
  readonly secret: string;
}

/** The stored rules; undefined if there are none. */
export async function storedRules(call: Call): Promise<StoredRules | undefined> {
  const { json, secret } = (await readItem(call, call.db.keys.access('rules'))) ?? {};
  return typeof json === 'string' && typeof secret === 'string' ? { json, secret } : undefined;
}

/** One write, and the version raised, both or neither. */
async function change(call: Call, write: Write): Promise<void> {
  const raise = {
    TableName: call.db.tables.entities,
    Key: { ...call.db.keys.access('version') },
    UpdateExpression: 'ADD #n :one',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':one': 1 },
  };
  await transact(call, [write, { Update: raise }]);
}

const putOf = ({ tables }: Database, item: Item): Write => ({ Put: { TableName: tables.entities, Item: item } });

export async function storeRules(call: Call, json: string): Promise<void> {
  const update = {
    TableName: call.db.tables.entities,
    Key: { ...call.db.keys.access('rules') },
    UpdateExpression: 'SET #json = :json, #secret = if_not_exists(#secret, :secret)',
    ExpressionAttributeNames: { '#json': 'json', '#secret': 'secret' },
    ExpressionAttributeValues: { ':json': json, ':secret': randomBytes(32).toString('base64') },
  };
  await change(call, { Update: update });
}

function keyFromItem(item: Item | undefined): StoredKey | undefined {
  const stored = item?.['key'];
  return typeof stored === 'string'
    ? { ...(JSON.parse(stored) as StoredKey), usedAt: (item?.['usedAt'] as string | undefined) ?? null }
    : undefined;
}

/** The API key with a hash, strongly consistent; undefined if there is none. */
export async function storedKey(call: Call, hash: string): Promise<StoredKey | undefined> {
  return keyFromItem(await readItem(call, call.db.keys.access('key', hash)));
}

/** Creates an API key, or replaces it. */
export async function storeKey(call: Call, { usedAt, ...key }: StoredKey): Promise<void> {
  const item = {
    ...call.db.keys.access('key', key.hash),
    key: JSON.stringify(key),
    ...(usedAt === null ? {} : { usedAt }),
  };
  await change(call, putOf(call.db, item));
}

export async function removeKey(call: Call, { hash }: StoredKey): Promise<void> {
  const { pk, sk } = call.db.keys.access('key', hash);
  await change(call, { Delete: { TableName: call.db.tables.entities, Key: { pk, sk } } });
}

/** All API keys, strongly consistent, in no order. */
export async function* listKeys(call: Call): AsyncGenerator<StoredKey> {
  const range = { index: 'entities', ...call.db.keys.accessRange('key'), consistent: true } as const;
  for await (const items of queryResponses(call, range)) {
    for (const item of items) {
      const key = keyFromItem(item);
      if (key !== undefined) yield key;
    }
  }
}

/** Notes the hour of a key's last use, in RFC 3339. It changes nothing that the key allows, so the version stays. */
export async function noteUse(call: Call, { hash }: StoredKey, hour: string): Promise<void> {
  const { pk, sk } = call.db.keys.access('key', hash);
  const update = {
    TableName: call.db.tables.entities,
    Key: { pk, sk },
    UpdateExpression: 'SET #used = :hour',
    // A key that was revoked meanwhile does not come back.
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#used': 'usedAt' },
    ExpressionAttributeValues: { ':hour': hour },
  };
  await holds(send(call, 'update', update));
}

const subjectHash = (subject: string) => createHash('sha256').update(subject).digest('base64url');

/** Before when tokens no longer count, in milliseconds since 1970, by their subject; undefined if all of it count. */
export type RevokedBefore = (subject: string) => number | undefined;

/** Reads all subjects whose tokens were revoked, strongly consistent. */
export async function revokedSubjects(call: Call): Promise<RevokedBefore> {
  const range = { index: 'entities', ...call.db.keys.accessRange('subject'), consistent: true } as const;
  const revoked = new Map<string, number>();
  for await (const items of queryResponses(call, range)) {
    for (const { hash, before } of items) {
      if (typeof hash === 'string' && typeof before === 'number') revoked.set(hash, before);
    }
  }
  return (subject) => revoked.get(subjectHash(subject));
}

/**
 * From now on, tokens of a subject that were issued before a time (milliseconds since 1970) do not count. Those that were
 * revoked stay so: of two times, the later one counts.
 */
export async function revokeSubject(call: Call, subject: string, before: number): Promise<void> {
  const hash = subjectHash(subject);
  const { keys, tables } = call.db;
  const item = { ...keys.access('subject', hash), hash, subject, before };
  const isLater = {
    ConditionExpression: 'attribute_not_exists(#before) OR #before < :before',
    ExpressionAttributeNames: { '#before': 'before' },
    ExpressionAttributeValues: { ':before': before },
  };
  await change(call, { Put: { TableName: tables.entities, Item: item, ...isLater } });
}
