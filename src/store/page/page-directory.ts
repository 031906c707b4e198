import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

import { afterPartition, type DirectoryPart } from '../../pages/directory.js';
import type { Database, Item } from '../database.js';
import type { Call } from '../request/meter.js';
import { rangeRequest, type RangeOptions } from '../request/ranges.js';
import { send } from '../request/send.js';
import type { PageSet } from './pages.js';

/** Maximum number of pages in one item: about 3 KB. */
export const MOST_HINTS = 256;

type Stored = readonly [begins: readonly string[], markers: readonly number[], bytes: readonly number[]];

function dataOf({ hints }: DirectoryPart): Uint8Array {
  const stored: Stored = [
    hints.map(({ begin }) => begin),
    hints.map(({ markers }) => markers),
    hints.map(({ bytes }) => bytes),
  ];
  return brotliCompressSync(JSON.stringify(stored));
}

/** The part in an item: `e` is where it ends, `d` its hints. */
function partOf({ sk, d, e }: Item): DirectoryPart[] {
  if (!(d instanceof Uint8Array) || typeof sk !== 'string') return [];
  const [begins, markers, bytes] = JSON.parse(brotliDecompressSync(d).toString()) as Stored;
  const hints = begins.map((begin, index) => ({ begin, markers: markers[index] ?? 0, bytes: bytes[index] ?? 0 }));
  return [{ begin: sk, hints, end: typeof e === 'string' ? e : afterPartition(sk) }];
}

/** Some parts of a directory, in order. */
export interface DirectoryParts {
  readonly parts: readonly DirectoryPart[];
  /** Whether these are all of the requested parts. */
  readonly isWhole: boolean;
}

/** The first parts of a directory that begin from one position to another, both included, by one Query. */
export async function readDirectory(
  database: Database,
  { scope, generation }: PageSet,
  range: RangeOptions & { readonly from: string; readonly to: string },
  call: Call,
): Promise<DirectoryParts> {
  const { pk } = database.keys.pageDirectory(scope, generation, range.from);
  const { Items = [], LastEvaluatedKey } = await send(
    database,
    'query',
    rangeRequest(database, { index: 'derived', pk, ...range }),
    call,
  );
  return { parts: Items.flatMap(partOf), isWhole: LastEvaluatedKey === undefined };
}

/** The part of a directory that a position belongs to; undefined if none of its partition begins before. */
export async function findDirectoryPart(
  database: Database,
  of: PageSet,
  position: string,
  consistent: boolean,
  call: Call,
): Promise<DirectoryPart | undefined> {
  const range = { from: position.charAt(0), to: position, limit: 1, descending: true, consistent };
  return (await readDirectory(database, of, range, call)).parts[0];
}

/** Replaces a part unconditionally, because a directory is only a hint. */
export async function putDirectoryPart(
  database: Database,
  { scope, generation }: PageSet,
  part: DirectoryPart,
  call: Call,
): Promise<void> {
  const Item = { ...database.keys.pageDirectory(scope, generation, part.begin), e: part.end, d: dataOf(part) };
  await send(database, 'put', { TableName: database.tables.derived, Item }, call);
}
