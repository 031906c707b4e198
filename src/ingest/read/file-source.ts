import { open, stat, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';

import { badInput, CellportError } from '../../errors.js';
import { readBytes } from './bytes.js';
import { isGzip, keepIn, unzipped } from './gzip.js';
import { readAtOffsets } from './read-at-offsets.js';
import { isInvalid, type Row, type RowOffset, type RowReader, type RowSource } from './row.js';
import { isPlain, readText, type TextForm } from './text.js';

/** Identifies a file and its content. */
interface Version {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly changed: bigint;
}

async function versionOf(path: string): Promise<Version | undefined> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return { device: dev, inode: ino, size, changed: mtimeNs };
  } catch {
    return undefined;
  }
}

function changed(path: string): CellportError {
  return new CellportError(
    'CONFLICT',
    `${path} changed during the import; run the same command again to import its new content`,
    { file: path },
  );
}

/** Reads a file twice and detects changes in between. */
export class FileSource<C extends object> implements RowSource<C> {
  readonly size: number;
  readonly #path: string;
  readonly #reader: RowReader<C>;
  #version: Version | undefined;
  #file: FileHandle | undefined;

  /** `unpacked` receives the bytes of a copied file as they are read; `size` counts them. */
  constructor(path: string, size: number, reader: RowReader<C>, unpacked?: FileHandle) {
    this.size = size;
    this.#path = path;
    this.#reader = reader;
    this.#file = unpacked;
  }

  async *scan(): AsyncGenerator<readonly Row<C>[]> {
    this.#version = await versionOf(this.#path);
    this.#file ??= await open(this.#path);
    yield* this.#reader.rows();
    await this.#checkVersion();
  }

  async read(offsets: readonly RowOffset[]): Promise<readonly C[]> {
    if (this.#file === undefined) throw new Error('scan() must run before read()');
    const rows = await readAtOffsets(this.#file, offsets);
    await this.#checkVersion();
    // The version is not reliable (coarse clocks, network file systems), so checksums verify that the rows written are
    // those that were checked.
    if (rows.some((bytes, at) => crc32(bytes) !== offsets[at]?.checksum)) throw changed(this.#path);
    return this.#reader.contents(rows).map((content) => {
      if (!isInvalid(content)) return content;
      throw new Error(`a valid row of ${this.#path} became invalid when it was read again: ${content.reason}`);
    });
  }

  notes(): Promise<readonly string[]> {
    return this.#reader.notes();
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #checkVersion(): Promise<void> {
    const now = await versionOf(this.#path);
    if (now === undefined || !isDeepStrictEqual(now, this.#version)) throw changed(this.#path);
  }
}

function noFile(path: string): CellportError {
  return new CellportError('BAD_USER_INPUT', `no such file: ${path}`, { field: 'file', value: path });
}

/** The size of a file in bytes. Throws BAD_USER_INPUT if it cannot be read. */
export async function fileSize(path: string): Promise<number> {
  const file = await stat(path).catch((error: Error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw noFile(path);
    throw badInput('file', path, `a readable file (${error.message})`);
  });
  if (!file.isFile()) throw badInput('file', path, 'a file');
  return file.size;
}

/** The decompressed size of a file in bytes; a compressed file is read for that. Throws like `fileSize`. */
export async function contentSize(path: string): Promise<number> {
  const size = await fileSize(path);
  if (!isGzip(path)) return size;
  let end = 0;
  for await (const { start, bytes } of readBytes(path)) end = start + bytes.length;
  return end;
}

async function* decodedText(path: string, form: TextForm): AsyncGenerator<Buffer> {
  for await (const { bytes } of readText(path, form)) yield bytes;
}

/**
 * Opens the rows of a file. A file that is compressed, or not in UTF-8 with line feeds, is first copied to an unlinked file in `folder`.
 * Throws BAD_USER_INPUT if it cannot be read.
 */
export async function openFile<C extends object>(
  path: string,
  reader: RowReader<C>,
  folder = tmpdir(),
): Promise<FileSource<C>> {
  const size = await fileSize(path);
  const form = await reader.form();
  if (isPlain(form) && !isGzip(path)) return new FileSource(path, size, reader);
  const unpacked = await keepIn(folder, isPlain(form) ? unzipped(path) : decodedText(path, form));
  return new FileSource(path, (await unpacked.stat()).size, reader, unpacked);
}
