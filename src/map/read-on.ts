import type { Connection } from './connection.js';

export interface ReadingOn {
  /** Whether too little time is left. */
  readonly isLate: () => boolean;
  /** Drops what was read: all that a long search reads may not fit into memory. */
  readonly forget: () => void;
}

/**
 * Reads a connection of a list and, while it is empty but not the last, the next one in its place, each within its read
 * budget: to a user, an empty connection means that there is nothing. When it gets late, the connection is empty and
 * says why.
 */
export async function readOn<Input, P extends Connection<unknown>>(
  input: Input,
  read: (input: Input) => Promise<P>,
  { isLate, forget }: ReadingOn,
): Promise<P> {
  let page = await read(input);
  const { hasPreviousPage } = page.pageInfo;
  while (page.edges.length === 0 && page.pageInfo.hasNextPage) {
    if (isLate()) return { ...page, pageInfo: { ...page.pageInfo, hasPreviousPage, shortBecause: 'DEADLINE' } };
    forget();
    page = await read({ ...input, after: page.pageInfo.endCursor });
  }
  return { ...page, pageInfo: { ...page.pageInfo, hasPreviousPage } };
}
