import type { StreamState } from '../../store/cell/stream-state.js';
import { UnknownPageFormat } from '../../store/page/pages.js';
import { PageRejected } from '../../store/page/replace-pages.js';
import { isFailure } from '../../store/request/failures.js';
import type { ApplyOptions } from '../cells/apply.js';
import type { PageMemory } from './memory.js';
import type { PagesPort } from '../ports.js';
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

/** Where pages are stored, and how. */
export interface PagesOptions extends PageCodec {
  /** The pages of a generation. */
  readonly open: (generation: string) => PagesPort;
  readonly memory: PageMemory;
  /** Most pages in a part of the directory. */
  readonly mostHints?: number;
}

/** The pages of one generation. */
export interface KeptPages extends Omit<PagesOptions, 'open'> {
  readonly pages: PagesPort;
}

/** The pages that a state says are maintained; undefined if there are none. */
export function keptPages({ pages }: StreamState, options: PagesOptions | undefined): KeptPages | undefined {
  return pages === null ? undefined : options && { ...options, pages: options.open(pages.generation) };
}

export interface ApplyPagesOptions extends KeptPages, Pick<ApplyOptions, 'clock' | 'signal' | 'log' | 'holds'> {}
