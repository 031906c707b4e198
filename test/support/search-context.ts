import { createKeyspace } from '../../src/keys/keyspace.js';
import { ReadFigures } from '../../src/loaders/range-loader.js';
import { DEFAULT_LIMITS, type Limits } from '../../src/model/limits.js';
import type { Marker } from '../../src/model/marker.js';
import type { SearchContext, SearchedPages } from '../../src/read/search.js';

type FakePages = Omit<SearchedPages, 'keyOf'>;

/** A context in which these pages are read, and base items of these properties. */
export function searchContext(
  pages: FakePages,
  limits: Partial<Limits> = {},
  properties: (key: string) => Record<string, unknown> = () => ({}),
): SearchContext {
  const keys = createKeyspace('readable');
  const loaders: SearchContext['loaders'] = {
    figures: new ReadFigures(),
    pages: {
      open: async () => ({ keyOf: (begin) => keys.page('c', '1', begin), ...pages }),
      giveUp: (_, error) => {
        throw error;
      },
    },
    index: { load: () => Promise.reject(new Error('the geo index is read')) },
    markers: { load: async ({ key }) => ({ key, properties: properties(key) }) as unknown as Marker },
  };
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { loaders, keys, limits: { ...DEFAULT_LIMITS, ...limits }, turn };
}
