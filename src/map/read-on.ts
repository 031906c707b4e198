import type { Page } from './page.js';

/** Read budgets of a page that finds nothing. Of 64 Query calls each, they reach all partitions of prefix length 2. */
const MOST_BUDGETS = 16;

/** How long to read on, and how to drop what was read: all that a long search reads may not fit into memory. */
export interface ReadingOn {
  readonly isLate: () => boolean;
  readonly forget: () => void;
}

/**
 * Reads a page of a list and, while it is empty but not the last, the next one in its place: to a user, an empty page
 * means that there is nothing. When that gets late, or has used up the read budgets of 16 pages, the page is empty and
 * says why.
 */
export async function readOn<Input, P extends Page<unknown>>(
  input: Input,
  read: (input: Input) => Promise<P>,
  { isLate, forget }: ReadingOn,
): Promise<P> {
  let page = await read(input);
  const { hasPreviousPage } = page.pageInfo;
  for (let budgets = 1; page.edges.length === 0 && page.pageInfo.hasNextPage; budgets++) {
    if (budgets === MOST_BUDGETS) break;
    if (isLate()) {
      page = { ...page, pageInfo: { ...page.pageInfo, shortBecause: 'DEADLINE' } };
      break;
    }
    forget();
    page = await read({ ...input, after: page.pageInfo.endCursor });
  }
  return { ...page, pageInfo: { ...page.pageInfo, hasPreviousPage } };
}
