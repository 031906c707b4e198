import type { MapContext } from './context.js';
import type { Viewport } from './viewport.js';

/** How many markers are inside a viewport, its edges included. */
export async function viewportCount(
  _context: MapContext,
  _viewport: Viewport,
  _collectionKey: string,
): Promise<number> {
  throw new Error('not built yet');
}
