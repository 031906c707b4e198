import type { StreamState } from '../store/cell/stream-state.js';
import type { ApplyOptions } from './apply.js';
import type { PageMemory } from './page-memory.js';
import type { PagesPort } from './ports.js';
import type { PageCodec } from './replace-page.js';

/** Where pages are kept, and how. */
export interface PagesOptions extends PageCodec {
  /** The pages of a generation. */
  readonly open: (generation: string) => PagesPort;
  readonly memory: PageMemory;
}

/** The pages of one generation. */
export interface KeptPages extends Omit<PagesOptions, 'open'> {
  readonly pages: PagesPort;
}

/** The pages that a state says are kept; undefined if none are. */
export function keptPages({ pages }: StreamState, options: PagesOptions | undefined): KeptPages | undefined {
  return pages === null ? undefined : options && { ...options, pages: options.open(pages.generation) };
}

export interface ApplyPagesOptions extends KeptPages, Pick<ApplyOptions, 'clock' | 'signal' | 'log' | 'holds'> {}
