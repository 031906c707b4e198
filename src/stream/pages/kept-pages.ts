import type { StreamState } from '../../store/cell/stream-state.js';
import { UnknownPageFormat } from '../../store/page/pages.js';
import { PageRejected } from '../../store/page/replace-pages.js';
import { isFailure } from '../../store/request/failures.js';
import type { LeasedWork, PagesPort, RecentPort } from '../ports.js';
import type { PageMemory } from './memory.js';
import type { PageCodec } from './replace.js';

/** Pages that cannot be written, however often it is retried. */
export class PagesFailed extends Error {
  override readonly name = 'PagesFailed';

  constructor(cause: unknown) {
    super('pages of markers cannot be written', { cause });
  }
}

/** Throws PagesFailed for a failure that is not transient: counts must not wait for it. */
export function checkPasses(error: unknown): void {
  const lasts =
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof UnknownPageFormat ||
    (error instanceof PageRejected && error.code === 'ValidationError') ||
    isFailure(error, 'ValidationException');
  if (lasts) throw new PagesFailed(error);
}

/** How pages are maintained. */
interface PageUpkeep extends PageCodec {
  readonly memory: PageMemory;
  /** Whether the version of an entry is its batch: items of tables of others have none that pages could compare. */
  readonly versionsByBatch?: boolean | undefined;
  /** Most pages in a part of the directory. */
  readonly mostHints?: number;
}

/** Where pages are stored, and how. */
export interface PagesOptions extends PageUpkeep {
  /** The pages of a generation. */
  readonly open: (generation: string) => PagesPort;
  /** Where writes that they lack are published; omitted if these are not. */
  readonly recent?: RecentPort | undefined;
}

/** The pages of one generation. */
export interface KeptPages extends PageUpkeep {
  readonly pages: PagesPort;
}

/** The pages that a state says are maintained; undefined if there are none. */
export function keptPages({ pages }: StreamState, options: PagesOptions | undefined): KeptPages | undefined {
  return pages === null ? undefined : options && { ...options, pages: options.open(pages.generation) };
}

export interface ApplyPagesOptions extends KeptPages, LeasedWork {}
