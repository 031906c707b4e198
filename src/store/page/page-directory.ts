import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

import { type PageHint, afterPartition } from '../../pages/directory.js';
import type { Database, Item } from '../database.js';
import type { Call } from '../request/meter.js';
import { queryAll } from '../request/query-pages.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';
import type { PagesOf } from './pages.js';

/** Hints for neighbouring pages of one partition, in order. It is named by its first begin. */
export type DirectoryPart = readonly PageHint[];

/** Maximum number of pages in one item: about 3 KB. */
export const MOST_HINTS = 256;

type Stored = readonly [begins: readonly string[], markers: readonly number[], bytes: readonly number[]];

function dataOf(part: DirectoryPart): Uint8Array {
  const stored: Stored = [
    part.map(({ begin }) => begin),
    part.map(({ markers }) => markers),
    part.map(({ bytes }) => bytes),
  ];
  return brotliCompressSync(JSON.stringify(stored));
}

function partOf({ d }: Item): DirectoryPart {
  if (!(d instanceof Uint8Array)) return [];
  const [begins, markers, bytes] = JSON.parse(brotliDecompressSync(d).toString()) as Stored;
  return begins.map((begin, index) => ({ begin, markers: markers[index] ?? 0, bytes: bytes[index] ?? 0 }));
}

/** All parts of the directory from one partition to another, both included, in order: one Query. */
export async function readDirectory(
  database: Database,
  { scope, generation }: Pick<PagesOf, 'scope' | 'generation'>,
  { first, last }: { readonly first: string; readonly last: string },
  call: Call,
): Promise<DirectoryPart[]> {
  const { pk } = database.keys.pageDirectory(scope, generation, first);
  const range = { index: 'cells', pk, from: first, to: afterPartition(last) } as const;
  const items = await queryAll(database, rangeRequest(database, range), call);
  return items.map(partOf);
}

/** Replaces a part unconditionally, because a directory is only a hint. */
export async function putDirectoryPart(
  database: Database,
  { scope, generation }: Pick<PagesOf, 'scope' | 'generation'>,
  part: DirectoryPart,
  call: Call,
): Promise<void> {
  const Item = { ...database.keys.pageDirectory(scope, generation, part[0]?.begin ?? ''), d: dataOf(part) };
  await send(database, 'put', { TableName: database.tables.derived, Item }, call);
}
