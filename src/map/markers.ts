import type { MapMarker, Marker, Properties } from '../model/marker.js';
import type { MapContext } from './context.js';
import type { MarkerFilterInput } from './filter.js';
import type { MarkerPage, PageInput } from './page.js';
import type { Viewport } from './viewport.js';

/** A page of the markers inside a viewport. */
export async function viewportMarkers(
  _context: MapContext,
  _viewport: Viewport,
  _collectionKey: string,
  _page: PageInput,
  _filter?: MarkerFilterInput | null,
): Promise<MarkerPage> {
  throw new Error('not built yet');
}

/** The marker with all that its base item holds, read in one batch with others of the same tick. */
export async function markerDetails(_context: MapContext, _marker: MapMarker): Promise<Marker> {
  throw new Error('not built yet');
}

/** All properties of a marker; read from its base item only where the map copy is not complete. */
export async function markerProperties(_context: MapContext, _marker: MapMarker): Promise<Properties> {
  throw new Error('not built yet');
}
