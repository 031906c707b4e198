import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const PREFIX = 'cpk_';
const KEY = /^cpk_[\w-]{43}$/;

/** SHA-256: the key is random, so that a slow hash would only be a way to keep the server busy. */
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');

/** A new API key of 256 random bits. */
export const newApiKey = (): string => PREFIX + randomBytes(32).toString('base64url');

/** The hash under which a key is stored; undefined for a text that is no key. */
export const hashOfKey = (text: string): string | undefined => (KEY.test(text) ? hashOf(text) : undefined);

/** Whether two hashes are equal, in the same time for all that are not. */
export const isSameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** What names the key with a hash for people. */
export const idOf = (hash: string): string => hash.slice(0, 12);
