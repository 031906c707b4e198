import type { SearchDocument } from '../../src/search/engine.js';

/** A marker in the index, at (1, 2) by default. */
export function documentOf(key: string, more: Partial<SearchDocument> = {}): SearchDocument {
  const own = { scope: 'cities', incarnation: 'one', version: 1, name: key, rest: '' };
  const item = { pk: `marker::cities::${key}`, sk: 'self' };
  return { key: item, ...own, bounds: { west: 1, south: 2, east: 1, north: 2 }, rank: undefined, ...more };
}
