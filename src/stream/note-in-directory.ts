import { compareBytes } from '../keys/byte-order.js';
import type { PageHint } from '../pages/directory.js';
import { type DirectoryPart, MOST_HINTS } from '../store/page/page-directory.js';
import { type PageReplacement, pageBytes } from '../store/page/pages.js';
import { chunks } from '../store/request/concurrency.js';
import type { ApplyPagesOptions } from './kept-pages.js';
import { isIn, partitionOf } from './page-memory.js';

/** Fill of the parts made from one that is too long, so that it takes a while until they are, too. */
const ROOMY = 0.75 * MOST_HINTS;

/**
 * Records split pages in the directory. It is only a hint: a failure is logged, and the next split nearby records what
 * this process still knows.
 */
export async function noteInDirectory(
  options: ApplyPagesOptions,
  replacements: readonly PageReplacement[],
): Promise<void> {
  const splits = new Map<string, PageReplacement[]>();
  for (const replacement of replacements) {
    if (replacement.pages.length < 2) continue;
    const name = `${replacement.scope}\n${partitionOf(replacement.begin)}`;
    splits.set(name, [...(splits.get(name) ?? []), replacement]);
  }
  const { memory, holds, log } = options;
  for (const [name, some] of splits) {
    if (!holds()) return;
    try {
      memory.directories?.set(name, await noted(options, name, some));
    } catch (err) {
      memory.directories?.delete(name);
      log.warn({ err }, 'cannot write the directory of pages');
    }
  }
}

/** The parts of a partition's directory, after writing those in which pages were split. */
async function noted(
  { pages, memory }: ApplyPagesOptions,
  name: string,
  splits: readonly PageReplacement[],
): Promise<readonly DirectoryPart[]> {
  const { scope = '', begin = '' } = splits[0] ?? {};
  const partition = partitionOf(begin);
  const stored = memory.directories?.get(name) ?? (await pages.readDirectory(scope, partition));
  // A partition's first page begins at its character.
  const parts = stored[0] ? stored : [[{ begin: partition, markers: 0, bytes: 0 }]];
  const made = splits.flatMap((split) => split.pages);
  const after: DirectoryPart[] = [];
  for (const [index, part] of parts.entries()) {
    const from = index === 0 ? partition : (part[0]?.begin ?? partition);
    const to = parts[index + 1]?.[0]?.begin;
    const inside = made.filter((page) => isIn({ begin: from, end: to }, page.begin));
    if (inside.length === 0) {
      after.push(part);
      continue;
    }
    const news = inside.map((page) => ({ begin: page.begin, markers: page.markers, bytes: pageBytes(page.data) }));
    const pieces = pieced(merged(part, news, memory.hints(scope, from, to)));
    // The right part first: until the left one is written, both have its hints.
    for (const piece of pieces.toReversed()) await pages.putDirectoryPart(scope, piece);
    after.push(...pieces);
  }
  return after;
}

/** Hints in order, each begin once; the last list takes precedence. */
function merged(...lists: readonly (readonly PageHint[])[]): PageHint[] {
  const hints = new Map(lists.flat().map((hint) => [hint.begin, hint]));
  return [...hints.values()].sort((a, b) => compareBytes(a.begin, b.begin));
}

const pieced = (hints: readonly PageHint[]): DirectoryPart[] =>
  hints.length <= MOST_HINTS ? [hints] : chunks(hints, Math.ceil(hints.length / Math.ceil(hints.length / ROOMY)));
