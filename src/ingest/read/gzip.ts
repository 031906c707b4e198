import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';

import { badInput } from '../../errors.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../private-files.js';

/** The extension of compressed files, appended to that of their format. */
export const GZIP = '.gz';

/** Files are read and decompressed in pieces of this size. */
export const CHUNK_BYTES = 64 * 1024;

export const isGzip = (path: string): boolean => extname(path).toLowerCase() === GZIP;

// Errors are reported by the stream that is read.
const ignore = () => undefined;

/** Yields the decompressed bytes of a file. Throws BAD_USER_INPUT if it is truncated or not gzip. */
export async function* unzipped(path: string): AsyncGenerator<Buffer> {
  const bytes = pipeline(createReadStream(path), createGunzip({ chunkSize: CHUNK_BYTES }), ignore);
  try {
    yield* bytes as AsyncIterable<Buffer>;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw code.startsWith('Z_') ? badInput('file', path, `a complete gzip file (${message})`) : error;
  }
}

/** Compresses text or bytes. */
export function zipped(pieces: AsyncIterable<string | Buffer>): AsyncIterable<Buffer> {
  return pipeline(pieces, createGzip(), ignore) as AsyncIterable<Buffer>;
}

/** For `catch`: names the place of a failed write, such as one on a full disk, as Node only does where a file is opened. */
export const naming = (path: string) => (error: Error) => {
  error.message += ` '${path}'`;
  throw error;
};

/**
 * Writes bytes to a new file in a folder, readable at any offset. The file is unlinked at once, so it disappears when
 * closed, even if the process is killed. Rethrows errors of `bytes`.
 */
export async function keepIn(folder: string, bytes: AsyncIterable<Buffer>): Promise<FileHandle> {
  await mkdir(folder, PRIVATE_FOLDER);
  const copy = join(folder, `${randomUUID()}.unpacked`);
  const file = await open(copy, 'wx+', PRIVATE_FILE.mode);
  try {
    await rm(copy);
    for await (const part of bytes) await file.appendFile(part).catch(naming(folder));
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
