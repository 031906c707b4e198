import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';

import { badInput } from '../errors.js';
import { fromZ, GEOHASH_ALPHABET, LONGEST_Z } from '../geo/geohash.js';
import { isPartial, type Grant } from '../model/grant.js';

const CIPHER = 'aes-256-gcm';
const NONCE = 12;
const TAG = 16;
/** Texts are padded to multiples of so many bytes, so that their length tells little of the keys in them. */
const BLOCK = 64;

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

const keysOf = new WeakMap<Uint8Array, Keys>();

function keysIn(secret: Uint8Array): Keys {
  const derived = (name: string) => Buffer.from(hkdfSync('sha256', secret, '', name, 32));
  const keys = keysOf.get(secret) ?? { cipher: derived('cursor cipher'), nonce: derived('cursor nonce') };
  keysOf.set(secret, keys);
  return keys;
}

/**
 * A JSON text, encrypted and authenticated by AES-256-GCM, and the same each time: its nonce is derived from it by
 * HMAC-SHA-256, so that no two texts share one.
 */
function sealed(text: string, secret: Uint8Array): Buffer {
  const keys = keysIn(secret);
  const length = Buffer.byteLength(text);
  const padded = Buffer.alloc(Math.ceil(length / BLOCK) * BLOCK, ' ');
  padded.write(text);
  const nonce = createHmac('sha256', keys.nonce).update(padded).digest().subarray(0, NONCE);
  const cipher = createCipheriv(CIPHER, keys.cipher, nonce);
  return Buffer.concat([nonce, cipher.update(padded), cipher.final(), cipher.getAuthTag()]);
}

/** The text of `sealed` with its padding; undefined for anything else. */
function unsealed(bytes: Buffer, secret: Uint8Array): Buffer | undefined {
  if (bytes.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv(CIPHER, keysIn(secret).cipher, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/**
 * A position in the order of a collection's markers: the geohash of length 10, `::` and the key as in sort keys; or the
 * geohash alone, which precedes all markers with that geohash. Positions are compared by bytes.
 */
export type CursorPosition = string;

/** The position before all markers. */
export const BEGIN: CursorPosition = fromZ(0, LONGEST_Z);

const VERSION = 1;
/** Longer than any cursor: a position has a key or a path, each byte of which JSON may write as six. */
const LONGEST = 32_768;
const POSITION = new RegExp(`^[${GEOHASH_ALPHABET}]{${LONGEST_Z}}(?:::.+)?$`, 's');

/** Whether a text is a cursor position. */
export function isCursorPosition(text: string): boolean {
  return POSITION.test(text);
}

/** The cursors of one list; those of other lists are rejected. */
export class Cursors {
  /** A short name derived from the definition of the list. */
  readonly #list: string;
  readonly #secret: Uint8Array | undefined;

  /**
   * With a grant of a part of the markers, cursors are encrypted: a page may end at one that the principal does not see.
   * They stay the same for the same position.
   */
  constructor(list: readonly unknown[], grant?: Grant) {
    this.#secret = isPartial({ grant }) ? grant?.cursorSecret : undefined;
    this.#list = createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 12);
  }

  /** The cursor for the page after a position. */
  write(position: CursorPosition): string {
    const text = JSON.stringify([VERSION, this.#list, position]);
    return (this.#secret ? sealed(text, this.#secret) : Buffer.from(text)).toString('base64url');
  }

  /**
   * The position in a cursor, after which the page starts. `isPosition` recognizes positions of lists that are not in
   * geohash order. Throws BAD_USER_INPUT for anything but a cursor of this list.
   */
  read(cursor: unknown, isPosition = isCursorPosition): CursorPosition {
    const position = typeof cursor === 'string' && cursor.length <= LONGEST ? this.#positionIn(cursor) : undefined;
    // A cursor of another list or version, or another encoding of this one, was not produced for this list.
    if (typeof position === 'string' && isPosition(position) && this.write(position) === cursor) return position;
    throw badInput('after', cursor, 'a cursor from a page of the same list');
  }

  /** What a cursor has as its position, whatever its list. */
  #positionIn(cursor: string): unknown {
    const bytes = Buffer.from(cursor, 'base64url');
    const parts = jsonIn((this.#secret ? unsealed(bytes, this.#secret) : bytes)?.toString('utf8') ?? '');
    return Array.isArray(parts) ? parts[2] : undefined;
  }
}

/** The value of a JSON text from a client; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
