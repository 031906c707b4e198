import type { Bounds } from '../geo/bounds.js';
import type { Collection } from '../model/collection.js';
import type { MapContext } from './context.js';
import type { MarkerFilterInput } from './filter.js';
import type { MarkerPage, PageInput } from './page.js';

/** A page of a collection's markers. */
export async function collectionMarkers(
  _context: MapContext,
  _collection: Collection,
  _page: PageInput,
  _filter?: MarkerFilterInput | null,
): Promise<MarkerPage> {
  throw new Error('not built yet');
}

/** How many markers a collection has, by its cells. */
export async function collectionCount(_context: MapContext, _collection: Collection): Promise<number> {
  throw new Error('not built yet');
}

/** The rectangle around a collection's occupied cells of length 4; null while it is empty. */
export async function collectionBounds(_context: MapContext, _collection: Collection): Promise<Bounds | null> {
  throw new Error('not built yet');
}
