import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import type { Key } from '../../keys/document-id.js';
import { afterPartition, partsOfHints, type DirectoryPart, type PageHint } from '../../pages/directory.js';
import { firstFrom, type OrderedMarker } from '../../pages/ordered-marker.js';
import { packPages, type PackedPage, type PackOptions } from '../../pages/pack.js';
import { retry, type RetryOptions } from '../../retry.js';
import { MOST_HINTS, pageBytes, type NewPage, type StoredPage } from '../../store/page/pages.js';
import { chunks, mapAhead } from '../../store/request/pacing.js';

/** A partition of a collection's pages. */
export interface Partition {
  readonly scope: string;
  /** The first character of its geohashes. */
  readonly partition: string;
}

/** A partition of one generation. */
export interface PartitionName extends Partition {
  readonly generation: string;
}

/** The entries of one partition of a collection, in order. */
export interface PartitionEntries extends Partition {
  readonly entries: readonly OrderedMarker[];
}

/** A page, a part of a directory of pages, or a winner, among all items of a table. */
export interface PageItem extends PartitionName {
  readonly key: Key;
  readonly of: 'pages' | 'directory' | 'winner';
}

/** Where a recount reads and writes pages. */
export interface RecountPages {
  /** All pages of a partition in order; undefined if one of them has a format that this version does not know. */
  read(name: PartitionName): Promise<readonly StoredPage[] | undefined>;
  /** Writes pages that do not exist yet; existing ones stay unchanged. */
  insert(name: PartitionName, round: number, pages: readonly NewPage[]): Promise<void>;
  putDirectory(name: PartitionName, part: DirectoryPart): Promise<void>;
  delete(items: readonly PageItem[]): Promise<void>;
}

/** A page that does not match the markers, identified by its begin. */
export interface PageName {
  readonly scope: string;
  readonly begin: string;
}

const PAGES_AT_A_TIME = 100;
/** The next one is packed while the pages of one are written. */
const PARTITIONS_AT_A_TIME = 2;
/** Packing a page takes a millisecond or two, between which a server answers requests. */
const PACKED_AT_A_TIME = 10;

export interface BuildOptions {
  readonly pages: RecountPages;
  readonly pack: PackOptions;
  /** Unique to this build: writes of a process that has stalled are in no page that is read. */
  readonly generation: string;
  readonly round: number;
  readonly retries: RetryOptions;
}

/** Builds the pages and the directory of a generation; returns the number of pages. */
export async function buildPages(options: BuildOptions, partitions: AsyncIterable<PartitionEntries>): Promise<number> {
  const { pages: store, generation, round, retries } = options;
  const build = async (entries: PartitionEntries): Promise<number> => {
    const name = { scope: entries.scope, partition: entries.partition, generation };
    const pages = await packed(options.pack, entries);
    // An attempt whose response was lost may have written them.
    for (const some of chunks(pages, PAGES_AT_A_TIME)) await retry(() => store.insert(name, round, some), retries);
    const hints = pages.map(({ begin, markers, data }): PageHint => ({ begin, markers, bytes: pageBytes(data) }));
    for (const part of partsOfHints(hints, afterPartition(name.partition), MOST_HINTS))
      await retry(() => store.putDirectory(name, part), retries);
    return pages.length;
  };
  let count = 0;
  for await (const pages of mapAhead(partitions, PARTITIONS_AT_A_TIME, build)) count += pages;
  return count;
}

/** The pages of a partition. */
async function packed(pack: PackOptions, { partition, entries }: PartitionEntries): Promise<NewPage[]> {
  const all: PackedPage[] = [];
  for (const page of packPages(partition, entries, pack)) {
    all.push(page);
    if (all.length % PACKED_AT_A_TIME === 0) await setImmediate();
  }
  return all.map(({ begin, entries: { length: markers }, data }, index) => {
    return { begin, end: all[index + 1]?.begin, markers, data };
  });
}

/** The result of a check. */
export interface CheckedPages {
  readonly pages: number;
  /** Pages that do not match the markers of their stretch, or do not end where the next one begins. */
  readonly differing: readonly PageName[];
}

/**
 * Compares the pages of a partition, undefined if one is of another version, with its markers; returns the begins of
 * those that match and end where the next one begins, and of those that do not. If there are none, the first page is
 * wrong. Only pages that are current, with the one after them, are compared.
 */
export function comparedPages(
  partition: string,
  entries: readonly OrderedMarker[],
  pages: readonly StoredPage[] | undefined,
  isCurrent: (page: StoredPage) => boolean,
): { readonly right: readonly string[]; readonly wrong: readonly string[] } {
  const right: string[] = [];
  const wrong: string[] = [];
  if (pages === undefined || (pages.length === 0 && entries.length > 0)) wrong.push(partition);
  for (const [index, page] of (pages ?? []).entries()) {
    const { begin, end, entries: held } = page;
    const next = pages?.[index + 1];
    if (!isCurrent(page) || (next !== undefined && !isCurrent(next))) continue;
    const from = index === 0 ? 0 : firstFrom(entries, begin);
    const to = next === undefined ? entries.length : firstFrom(entries, next.begin);
    const isFirst = index > 0 || begin === partition;
    const isRight = end === next?.begin && isFirst && isDeepStrictEqual(held, entries.slice(from, to));
    (isRight ? right : wrong).push(begin);
  }
  return { right, wrong };
}
