import { randomUUID } from 'node:crypto';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';

import { badInput } from '../../errors.js';

/** Resolves when the stream has written a piece; rejects with its error, or with the signal's reason. */
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
 * Writes text to a stream at its pace, and leaves it open. Throws the stream's error, and the signal's reason when it is
 * aborted, even while the stream is blocked.
 */
export async function writeToStream(
  stream: Writable,
  pieces: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  // The write reports errors; without a listener the event would end the process as well.
  stream.on('error', () => undefined);
  for await (const piece of pieces) {
    signal.throwIfAborted();
    await writePiece(stream, piece, signal);
  }
}

/** The file at a path, links resolved; undefined for a device or a pipe. Throws BAD_USER_INPUT for a folder. */
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
 * Writes text to a file atomically: it is written under another name and renamed when complete; a failure leaves the file
 * unchanged. A device or a pipe is written directly. Throws BAD_USER_INPUT for a folder, before `pieces` is read, and the
 * signal's reason when it is aborted.
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
