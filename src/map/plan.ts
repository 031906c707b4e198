import type { Bounds } from '../geo/bounds.js';
import type { KeyRange } from '../model/key-range.js';
import type { MapContext } from './context.js';
import type { Viewport } from './viewport.js';

/** What a viewport's markers would be read from. */
export interface ViewportPlan {
  readonly precision: number;
  readonly ranges: readonly (KeyRange & { readonly bounds: Bounds })[];
}

/** The key ranges that the first page of a viewport's markers would read, without reading markers. */
export async function viewportPlan(
  _context: MapContext,
  _viewport: Viewport,
  _collectionKey: string,
): Promise<ViewportPlan> {
  throw new Error('not built yet');
}
