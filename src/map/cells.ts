import type { Cell } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import type { MapContext } from './context.js';
import type { MarkerPage, PageInput } from './page.js';
import type { Viewport } from './viewport.js';

/** A cell and whose markers it counts. Bounds, center and centroid follow from it by geo/. */
export interface MapCell extends Cell {
  readonly collection: Collection;
}

/** The cells of one precision (1 to 12, the viewport's own where left out) that touch the viewport and hold markers. */
export async function viewportCells(
  _context: MapContext,
  _viewport: Viewport,
  _collectionKey: string,
  _precision?: number | null,
): Promise<MapCell[]> {
  throw new Error('not built yet');
}

/** One cell of any length from 1 to 12, with a count of 0 where it holds nothing. */
export async function cellAt(_context: MapContext, _collection: Collection, _geohash: string): Promise<MapCell> {
  throw new Error('not built yet');
}

/** The cell of this precision that a marker stands in. */
export async function cellOfMarker(_context: MapContext, _marker: MapMarker, _precision: number): Promise<MapCell> {
  throw new Error('not built yet');
}

/** The cell around a cell; null for one of length 1. */
export async function cellParent(_context: MapContext, _cell: MapCell): Promise<MapCell | null> {
  throw new Error('not built yet');
}

/** Those of a cell's 32 children that hold markers; none for one of length 12. */
export async function cellChildren(_context: MapContext, _cell: MapCell): Promise<MapCell[]> {
  throw new Error('not built yet');
}

/** A page of a cell's markers. */
export async function cellMarkers(_context: MapContext, _cell: MapCell, _page: PageInput): Promise<MarkerPage> {
  throw new Error('not built yet');
}
