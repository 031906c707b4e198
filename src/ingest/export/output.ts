import { randomUUID } from 'node:crypto';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';

import { badInput } from '../../errors.js';

/** Resolves when the stream has taken a piece; rejects with its error, or with the signal's reason. */
function writePiece(stream: Writable, piece: string, signal: AbortSignal): Promise<void> {
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
 * Writes text to a stream no faster than that takes it, and leaves it open. Throws what the stream fails with, and the
 * signal's reason when it is aborted, also while the stream takes nothing.
 */
export async function writeToStream(
  stream: Writable,
  pieces: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  // The write tells of it; without a listener, told once more, it would end the process.
  stream.on('error', () => undefined);
  for await (const piece of pieces) {
    signal.throwIfAborted();
    await writePiece(stream, piece, signal);
  }
}

/** The file that a path leads to, or undefined for a device or a pipe. Throws BAD_USER_INPUT for a folder. */
async function fileAt(path: string): Promise<string | undefined> {
  const there = await stat(path).catch(() => undefined);
  if (there === undefined) return path;
  if (there.isDirectory()) throw badInput('--out', path, 'a file, not a folder');
  return there.isFile() ? realpath(path) : undefined;
}

async function writePieces(file: FileHandle, pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    await file.appendFile(piece);
  }
}

/**
 * Writes text to a file, which is there when all of it is, and not before: until then it grows beside it under another
 * name, and what goes wrong leaves the file as it was. A device or a pipe is written to as it is. Throws BAD_USER_INPUT for
 * a folder, before anything is asked of `pieces`, and the signal's reason when it is aborted.
 */
export async function writeToFile(path: string, pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const target = await fileAt(path);
  if (target === undefined) {
    const device = await open(path, 'w');
    try {
      return await writePieces(device, pieces, signal);
    } finally {
      await device.close();
    }
  }
  const growing = `${target}.${randomUUID().slice(0, 8)}.part`;
  try {
    const file = await open(growing, 'wx');
    try {
      await writePieces(file, pieces, signal);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(growing, target);
  } catch (error) {
    await rm(growing, { force: true });
    throw error;
  }
}
