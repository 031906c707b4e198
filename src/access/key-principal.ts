import type { Log } from '../log.js';
import { noteUse, storedKey } from '../store/access/access-items.js';
import { newCall, type Call } from '../store/database.js';
import type { Principal } from './access.js';
import { isSameHash } from './api-key.js';
import { unauthenticated } from './credential.js';

const HOUR_MS = 3_600_000;

/** Who has the API key with a hash; notes the hour of its use. Throws UNAUTHENTICATED if there is no such key. */
export async function principalOfKey(call: Call, hash: string, log: Log): Promise<Principal> {
  const key = await storedKey(call, hash);
  if (key === undefined || !isSameHash(key.hash, hash)) throw unauthenticated('the API key is unknown or revoked');
  const hour = new Date(Math.floor(call.db.clock.wall() / HOUR_MS) * HOUR_MS).toISOString();
  if (key.usedAt !== hour) {
    noteUse(newCall(call.db), key, hour).catch((err: unknown) => log.warn({ err }, 'Cannot note the use of a key'));
  }
  const { id, name, roles, variables, expiresAt, budget, quotas } = key;
  return {
    id: `key:${id}`,
    name,
    roles,
    variables,
    budget,
    quotas,
    expiresAt: expiresAt === null ? undefined : Date.parse(expiresAt),
  };
}
