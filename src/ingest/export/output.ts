import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';

import { badInput } from '../../errors.js';
import { naming } from '../read/gzip.js';

/** Resolves when the stream has written a piece; rejects with the stream's error or the signal's reason. */
function writePiece(stream: Writable, piece: string | Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    stream.write(piece, (error) => {
      signal.removeEventListener('abort', stop);
      if (error) reject(error);
      else resolve();
    });
  });
}

/**
 * Writes text to a stream with backpressure, and leaves it open. Throws the stream's error, or the signal's reason on
 * abort, even while the stream is blocked.
 */
export async function writeToStream(
  stream: Writable,
  pieces: AsyncIterable<string | Buffer>,
  signal: AbortSignal,
): Promise<void> {
  // The write callback reports errors; without a listener, the error event would also end the process.
  stream.on('error', () => undefined);
  for await (const piece of pieces) {
    signal.throwIfAborted();
    await writePiece(stream, piece, signal);
  }
}

/** The file at a path, with links resolved; undefined for a device or pipe. Throws BAD_USER_INPUT for a folder. */
async function fileAt(path: string): Promise<string | undefined> {
  const existing = await stat(path).catch(() => undefined);
  if (existing === undefined) return path;
  if (existing.isDirectory()) throw badInput('--out', path, 'a file, not a folder');
  return existing.isFile() ? realpath(path) : undefined;
}

/**
 * Writes text or bytes to a file atomically: under a temporary name, renamed when complete; a failure leaves the file unchanged.
 * Writes directly to a device or a pipe. Throws BAD_USER_INPUT for a folder, before `pieces` is read, and the signal's
 * reason on abort.
 */
export async function writeToFile(
  path: string,
  pieces: AsyncIterable<string | Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const target = await fileAt(path);
  const written = target === undefined ? path : `${target}.${randomUUID().slice(0, 8)}.part`;
  try {
    const file = await open(written, target === undefined ? 'w' : 'wx');
    try {
      for await (const piece of pieces) {
        signal.throwIfAborted();
        await file.appendFile(piece).catch(naming(path));
      }
      if (target !== undefined) await file.sync().catch(naming(path));
    } finally {
      await file.close();
    }
    if (target !== undefined) await rename(written, target);
  } catch (error) {
    if (target !== undefined) await rm(written, { force: true });
    throw error;
  }
}
