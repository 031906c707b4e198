import { compareBytes } from '../../keys/byte-order.js';
import { afterPartition, partsOfHints, type DirectoryPart, type PageHint } from '../../pages/directory.js';
import { MOST_HINTS, pageBytes, type NewPage, type PageReplacement } from '../../store/page/pages.js';
import type { ApplyPagesOptions } from './kept-pages.js';
import { isIn, partitionOf } from './memory.js';

/** Fill of the parts made from one that is too long, so that it takes a while until they are, too. */
const ROOMY = 0.75;

/**
 * Records split pages in the directory. It is only a hint: a failure is logged, and the next split nearby records what
 * this process still knows.
 */
export async function noteInDirectory(
  options: ApplyPagesOptions,
  replacements: readonly PageReplacement[],
): Promise<void> {
  const made = new Map<string, NewPage[]>();
  for (const { scope, pages } of replacements) {
    if (pages.length > 1) made.set(scope, [...(made.get(scope) ?? []), ...pages]);
  }
  for (const [scope, pages] of made) {
    let left = pages.sort((a, b) => compareBytes(a.begin, b.begin));
    for (let first = left[0]; first; first = left[0]) {
      if (!options.holds()) return;
      const { begin } = first;
      try {
        const part = await partAt(options, scope, begin);
        const inside = left.filter((page) => isIn(part, page.begin));
        if (inside.length === 0) throw new Error(`no part of the directory contains ${begin}`);
        left = left.slice(inside.length);
        await noteInPart(options, scope, part, inside);
      } catch (err) {
        left = left.filter((page) => partitionOf(page.begin) !== partitionOf(begin));
        options.memory.forgetDirectory(scope, begin);
        options.log.warn({ err }, 'Cannot write the directory of pages');
      }
    }
  }
}

/** The part of the directory that a position belongs to. */
async function partAt({ pages, memory }: ApplyPagesOptions, scope: string, position: string): Promise<DirectoryPart> {
  const known = memory.directoryPart(scope, position) ?? (await pages.findDirectoryPart(scope, position));
  if (known) return known;
  // A partition's first page begins at its character.
  const begin = partitionOf(position);
  return { begin, hints: [{ begin, markers: 0, bytes: 0 }], end: afterPartition(position) };
}

/** Writes a part with the pages that were split off within it, as several parts if they are too many. */
async function noteInPart(
  { pages, memory, mostHints = MOST_HINTS }: ApplyPagesOptions,
  scope: string,
  { begin, hints, end }: DirectoryPart,
  made: readonly NewPage[],
): Promise<void> {
  const news = made.map((page) => ({ begin: page.begin, markers: page.markers, bytes: pageBytes(page.data) }));
  const all = merged(hints, news, memory.hints(scope, begin, end));
  // The right part first: until the left one is written, both have its hints.
  const size =
    all.length <= mostHints ? mostHints : Math.ceil(all.length / Math.ceil(all.length / (ROOMY * mostHints)));
  for (const part of partsOfHints(all, end, size).toReversed()) {
    await pages.putDirectoryPart(scope, part);
    memory.putDirectoryPart(scope, part);
  }
}

/** Hints in order, each begin once; the last list takes precedence. */
function merged(...lists: readonly (readonly PageHint[])[]): PageHint[] {
  const hints = new Map(lists.flat().map((hint) => [hint.begin, hint]));
  return [...hints.values()].sort((a, b) => compareBytes(a.begin, b.begin));
}
