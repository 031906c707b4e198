import { hashOfKey, idOf, newApiKey } from '../../access/api-key.js';
import { readRules } from '../../access/rules.js';
import { badInput, CellportError, notFound } from '../../errors.js';
import type { Budget } from '../../model/budget.js';
import { quotaTexts, type Quotas } from '../../model/quotas.js';
import { listKeys, removeKey, storedRules, storeKey, type StoredKey } from '../../store/access/access-items.js';
import { grouped, printable } from '../progress.js';
import type { CommandSession } from '../session.js';

/** What a new key may do, and for how long. */
export interface KeyOptions {
  readonly role: readonly string[];
  readonly name?: string;
  readonly var?: Readonly<Record<string, string>>;
  /** In milliseconds. */
  readonly expires?: number;
  readonly budget?: Budget;
  readonly quota?: Quotas;
  readonly json?: boolean;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u;

/** A key as it is listed. */
const jsonOf = ({ hash: _hash, ...key }: StoredKey) => key;

/** Stores and prints a new key: standard output has nothing else, and it is the only time. Returns its ID. */
async function issueKey(
  { call }: CommandSession,
  of: Omit<StoredKey, 'hash' | 'id' | 'usedAt'>,
  json = false,
): Promise<string> {
  const key = newApiKey();
  const hash = hashOfKey(key) ?? '';
  const stored = { hash, id: idOf(hash), usedAt: null, ...of };
  await storeKey(call, stored);
  console.log(json ? JSON.stringify({ key, ...jsonOf(stored) }, null, 2) : key);
  const until = stored.expiresAt === null ? '' : ` until ${stored.expiresAt}`;
  console.error(`Key ${stored.id} (${stored.name}) is valid${until}. It is not shown again.`);
  return stored.id;
}

/** Throws BAD_USER_INPUT for a role without rules. */
async function checkRoles({ call }: CommandSession, roles: readonly string[]): Promise<void> {
  const { json } = (await storedRules(call)) ?? {};
  const known = json === undefined ? [] : Object.keys(readRules(JSON.parse(json)).roles);
  const unknown = roles.find((role) => !known.includes(role));
  if (unknown === undefined) return;
  throw badInput(
    '--role',
    unknown,
    known.length === 0
      ? 'a role that the access rules define, but there are no rules yet'
      : `one of ${known.join(', ')}`,
  );
}

/** Creates and prints a key; returns its ID. */
export async function createKey(
  session: CommandSession,
  { role, name, var: variables = {}, expires, budget, quota: quotas, json }: KeyOptions,
): Promise<readonly string[]> {
  await checkRoles(session, role);
  const called = name ?? role.join('-');
  if (!NAME.test(called)) throw badInput('--name', called, '1 to 100 letters, digits, spaces and ._@-');
  const now = session.database.clock.wall();
  const createdAt = new Date(now).toISOString();
  const expiresAt = expires === undefined ? null : new Date(now + expires).toISOString();
  const of = { name: called, roles: role, variables, budget, quotas, createdAt, expiresAt };
  return [await issueKey(session, of, json)];
}

export async function printKeys({ call }: CommandSession, json: boolean): Promise<void> {
  const keys: StoredKey[] = [];
  for await (const key of listKeys(call)) keys.push(key);
  keys.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  if (json) {
    console.log(JSON.stringify(keys.map(jsonOf), null, 2));
    return;
  }
  for (const { id, name, roles, variables, budget, quotas, createdAt, expiresAt, usedAt } of keys) {
    const of = Object.entries(variables).map(([variable, value]) => `${variable}=${String(value)}`);
    if (budget !== undefined) of.push(`${budget.units}/${budget.per}`);
    of.push(...quotaTexts(quotas));
    const times = `created ${createdAt}, ${expiresAt === null ? 'does not expire' : `expires ${expiresAt}`}`;
    const use = usedAt === null ? 'never used' : `last used ${usedAt.slice(0, 13)}h`;
    console.log(printable(`${id}  ${name}  ${[...roles, ...of].join(' ')}  ${times}, ${use}`));
  }
  console.error(`${grouped(keys.length)} keys`);
}

/** When a key no longer counts, in milliseconds since 1970. */
const endOf = ({ expiresAt }: StoredKey) => (expiresAt === null ? Infinity : Date.parse(expiresAt));

/**
 * The key with this ID, the key itself, or the only one with this name that has not expired: those that were rotated keep
 * theirs. Throws NOT_FOUND, or CONFLICT if several have the name.
 */
async function findKey({ call, database }: CommandSession, wanted: string): Promise<StoredKey> {
  const hash = hashOfKey(wanted);
  const now = database.clock.wall();
  const found: StoredKey[] = [];
  for await (const key of listKeys(call)) {
    const isNamed = key.name === wanted && endOf(key) > now;
    if (key.hash === hash || key.id === wanted || (hash === undefined && isNamed)) found.push(key);
  }
  const [only, ...more] = found;
  if (only === undefined) throw notFound('API key', hash === undefined ? wanted : idOf(hash));
  if (more.length === 0) return only;
  const message = `${found.length} keys have the name ${wanted}; give the ID of one: ${found.map(({ id }) => id).join(', ')}`;
  throw new CellportError('CONFLICT', message, { name: wanted });
}

/** Replaces a key by a new one that may do the same; the old one counts for a while longer. Returns the IDs of both. */
export async function rotateKey(
  session: CommandSession,
  wanted: string,
  { overlap, json }: { readonly overlap: number; readonly json?: boolean },
): Promise<readonly string[]> {
  const old = await findKey(session, wanted);
  const now = session.database.clock.wall();
  const left = Math.min(now + overlap, endOf(old));
  const { name, roles, variables, budget, quotas } = old;
  const createdAt = new Date(now).toISOString();
  const lifetime = endOf(old) - Date.parse(old.createdAt);
  const expiresAt = lifetime === Infinity ? null : new Date(now + lifetime).toISOString();
  const id = await issueKey(session, { name, roles, variables, budget, quotas, createdAt, expiresAt }, json);
  await storeKey(session.call, { ...old, expiresAt: new Date(left).toISOString() });
  return [old.id, id];
}

/** Returns the ID of the key that no longer counts. */
export async function revokeKey(session: CommandSession, wanted: string, json: boolean): Promise<readonly string[]> {
  const key = await findKey(session, wanted);
  await removeKey(session.call, key);
  if (json) console.log(JSON.stringify(jsonOf(key), null, 2));
  console.error(`Key ${key.id} (${key.name}) is revoked on all servers within a second.`);
  return [key.id];
}
