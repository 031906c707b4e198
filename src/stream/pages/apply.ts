import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { orderedMarker, type OrderedMarker } from '../../pages/ordered-marker.js';
import type { PageReplacement } from '../../store/page/pages.js';
import { chunks, mapConcurrently, processAll } from '../../store/request/pacing.js';
import { checkPasses, PagesFailed, type ApplyPagesOptions } from './kept-pages.js';
import { locatePages, type CollectionPosition } from './locate.js';
import { isIn } from './memory.js';
import { noteInDirectory } from './note-in-directory.js';
import { replacementOf, type PageEdits } from './replace.js';

/**
 * The net change of a marker in a batch: its position before the first of its records, and its state after the last.
 */
export interface PageChange {
  readonly scope: string;
  /** Its position in the order of the collection; undefined if it did not exist. */
  readonly before: string | undefined;
  readonly after: OrderedMarker | undefined;
}

/**
 * Each batch is applied in two rounds: in the first, markers are added, changed and deleted; in the second, those that moved to
 * another page are removed from the page that they left. So at each moment every marker is in at least one page.
 */
export const roundOf = (batch: number, second: boolean): number => 2 * batch + (second ? 1 : 0);

interface Edit extends CollectionPosition {
  /** Undefined to remove the entry. */
  readonly entry: OrderedMarker | undefined;
  /** The new position of a removed marker that has moved; undefined if it was deleted. */
  readonly to?: string | undefined;
}

/**
 * Brings the pages of all changed markers to a batch. Each page is written only if it has not changed since it was
 * read, and remembers its round, so the batch changes it exactly once, however often and by whichever process it is
 * applied. Throws PagesFailed if that is impossible.
 */
export async function applyToPages(
  options: ApplyPagesOptions,
  batch: number,
  changes: readonly PageChange[],
): Promise<void> {
  const edits = changes.flatMap(({ scope, before, after: entry }): Edit[] => {
    const after = entry && options.versionsByBatch === true ? versioned(entry, batch) : entry;
    const added = after ? [{ scope, position: after.position, entry: after }] : [];
    const leaves = before !== undefined && before !== after?.position;
    return leaves ? [...added, { scope, position: before, entry: undefined, to: after?.position }] : added;
  });
  const first = await applyRound(options, roundOf(batch, false), edits);
  const second = await applyRound(options, roundOf(batch, true), first.later);
  await noteInDirectory(options, [...first.written, ...second.written]);
}

/** An entry in another version. */
export const versioned = ({ marker }: OrderedMarker, version: number): OrderedMarker =>
  orderedMarker({ ...marker, mapVersion: version });

interface Rewrite extends PageEdits {
  readonly edits: Edit[];
  readonly removed: Set<string>;
  readonly added: Map<string, OrderedMarker>;
}

interface Round {
  readonly written: PageReplacement[];
  /** Removals for the second round. */
  readonly later: Edit[];
}

const isSecond = (round: number) => round % 2 === 1;

async function applyRound(options: ApplyPagesOptions, round: number, edits: readonly Edit[]): Promise<Round> {
  const { memory, clock, signal, log } = options;
  const done: Round = { written: [], later: [] };
  async function applySome(left: readonly Edit[]): Promise<readonly Edit[]> {
    signal.throwIfAborted();
    const { rewrites, later } = await rewritesOf(options, left, isSecond(round));
    done.later.push(...later);
    const tries = chunks(rewrites, REQUEST_LIMITS.batchExecute);
    const results = await mapConcurrently(tries, CHUNKS_AT_A_TIME, (some) => rewrite(options, round, some));
    done.written.push(...results.flatMap(({ written }) => written));
    return results.flatMap((result) => result.left);
  }
  function onRetry(err: unknown, attempt: number): void {
    checkPasses(err);
    memory.clear();
    log.warn({ err, attempt }, 'Cannot read pages; retrying');
  }
  const retryable = (err: unknown) => !(err instanceof PagesFailed);
  await processAll(edits, applySome, { attempts: Infinity, retryable, onRetry, clock, signal });
  return done;
}

const CHUNKS_AT_A_TIME = 4;

/** Collects the edits of each page; a marker that moves to another page leaves its own page in the second round. */
async function rewritesOf(options: ApplyPagesOptions, edits: readonly Edit[], all: boolean) {
  const places = edits.flatMap(({ scope, position }) => ({ scope, position }));
  const pageOf = await locatePages(options, places);
  const rewrites = new Map<string, Rewrite>();
  const later: Edit[] = [];
  for (const edit of edits) {
    const { scope, position, entry, to } = edit;
    const page = pageOf(edit);
    if (!all && to !== undefined && !isIn(page, to)) {
      later.push(edit);
      continue;
    }
    const name = `${scope}\n${page.begin}`;
    const made = { scope, page, edits: [], removed: new Set<string>(), added: new Map<string, OrderedMarker>() };
    const rewrite: Rewrite = rewrites.get(name) ?? made;
    rewrites.set(name, rewrite);
    rewrite.edits.push(edit);
    if (entry === undefined) rewrite.removed.add(position);
    else rewrite.added.set(position, entry);
  }
  return { rewrites: [...rewrites.values()], later };
}

/** Packing a page takes about a millisecond, and some 30 ms if many markers are added. */
const PAGES_IN_A_STEP = 8;
const EDITS_IN_A_STEP = 100;

/** Pages with their replacements. Lets other work of this process run in between. */
async function replacementsOf(options: ApplyPagesOptions, round: number, rewrites: readonly Rewrite[]) {
  const open: (Rewrite & { readonly replacement: PageReplacement })[] = [];
  for (const [index, one] of rewrites.entries()) {
    const replacement = replacementOf(options, one, round);
    if (replacement) open.push({ ...one, replacement });
    const isLong = index % PAGES_IN_A_STEP === PAGES_IN_A_STEP - 1 || one.edits.length > EDITS_IN_A_STEP;
    if (isLong) await options.clock.sleep(0, options.signal);
  }
  return open;
}

interface Tried {
  readonly written: readonly PageReplacement[];
  /** Edits still to be made. */
  readonly left: readonly Edit[];
}

/** Rewrites pages, each only if it has not changed since it was read. */
async function rewrite(options: ApplyPagesOptions, round: number, rewrites: readonly Rewrite[]): Promise<Tried> {
  const { pages, memory, holds, log } = options;
  const open = await replacementsOf(options, round, rewrites);
  const editsOf = (some: typeof open) => some.flatMap(({ edits }) => edits);
  if (open.length === 0) return { written: [], left: [] };
  if (!holds()) return { written: [], left: editsOf(open) };
  try {
    const outcomes = await pages.write(open.map(({ replacement }) => replacement));
    const written = open.filter((_, index) => outcomes[index] === true);
    const refused = open.filter((_, index) => outcomes[index] !== true);
    for (const { scope, page } of refused) memory.forget(scope, page.begin);
    for (const { scope, replacement } of written) {
      const { round: made, lost } = replacement;
      for (const page of replacement.pages) memory.put(scope, { ...page, round: made, lost });
    }
    // A page that was only cut must still be brought to the round.
    const cut = written.filter(({ replacement }) => replacement.round < round);
    return { written: written.map(({ replacement }) => replacement), left: editsOf([...refused, ...cut]) };
  } catch (err) {
    checkPasses(err);
    // Some may have been written: the pages themselves show which.
    for (const { scope, page } of open) memory.forget(scope, page.begin);
    log.warn({ err }, 'Cannot write pages; retrying');
    return { written: [], left: editsOf(open) };
  }
}
