import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

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
export function sealed(text: string, secret: Uint8Array): Buffer {
  const keys = keysIn(secret);
  const length = Buffer.byteLength(text);
  const padded = Buffer.alloc(Math.ceil(length / BLOCK) * BLOCK, ' ');
  padded.write(text);
  const nonce = createHmac('sha256', keys.nonce).update(padded).digest().subarray(0, NONCE);
  const cipher = createCipheriv(CIPHER, keys.cipher, nonce);
  return Buffer.concat([nonce, cipher.update(padded), cipher.final(), cipher.getAuthTag()]);
}

/** The text of `sealed` with its padding; undefined for anything else. */
export function unsealed(bytes: Buffer, secret: Uint8Array): Buffer | undefined {
  if (bytes.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv(CIPHER, keysIn(secret).cipher, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}
