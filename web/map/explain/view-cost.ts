import type { Answer, Bounds, MapMarker, Read } from '../../../src/client/public.js';
import { cellsOf } from './cells.js';

/** The reads of a view: all responses between two moves of the map, for all layers and pages. */
export interface ViewCost {
  /** Number of responses; 0 if everything was already loaded. */
  readonly answers: number;
  readonly queries: number;
  readonly readUnits: number;
  /** Items read by Query calls, before filters. */
  readonly items: number;
  /** Items read by key, which belong to no range. */
  readonly byKey: number;
  readonly cacheHits: number;
  /** Time of the slowest response. */
  readonly ms: number;
  /** Number of features that the map showed at the last response. */
  readonly shown: number;
  /** The markers among those features. */
  readonly markers: readonly MapMarker[];
  readonly reads: readonly Read[];
  readonly readsLeftOut: number;
  readonly pages: Answer['pages'];
  readonly regions: Answer['regions'];
}

export const NO_COST: ViewCost = {
  answers: 0,
  queries: 0,
  readUnits: 0,
  items: 0,
  byKey: 0,
  cacheHits: 0,
  ms: 0,
  shown: 0,
  markers: [],
  reads: [],
  readsLeftOut: 0,
  pages: [],
  regions: [],
};

/** What the map shows. */
export type Shown = Pick<ViewCost, 'shown' | 'markers'>;

/** The cost of a view after one more response. */
export function addAnswer(view: ViewCost, answer: Answer, { shown, markers }: Shown): ViewCost {
  const { cost, reads, readsLeftOut, pages, regions, ms } = answer;
  return {
    answers: view.answers + 1,
    queries: view.queries + (cost?.queries ?? 0),
    readUnits: view.readUnits + (cost?.readUnits ?? 0),
    items: view.items + (cost?.itemsScanned ?? 0),
    byKey: view.byKey + (cost?.getItems ?? 0),
    cacheHits: view.cacheHits + (cost?.cacheHits ?? 0),
    ms: Math.max(view.ms, ms),
    shown,
    markers,
    reads: [...view.reads, ...reads],
    readsLeftOut: view.readsLeftOut + readsLeftOut,
    // Requests of one view share pages.
    pages: [...new Map([...view.pages, ...pages].map((page) => [JSON.stringify(page), page])).values()],
    regions: [...view.regions, ...regions],
  };
}

/**
 * A unit of drawing: a page of markers, or ranges with the same cells, such as those of all write shards or of several
 * layers.
 */
export interface Shape {
  readonly id: number;
  /** Disjoint rectangles. */
  readonly cells: readonly Bounds[];
  readonly cached: boolean;
  /** Number of markers of a page, or of items of ranges. */
  readonly items: number;
  /** Null for a page, which is only part of a read. */
  readonly readUnits: number | null;
  /** Indexes of its reads in the list. */
  readonly reads: readonly number[];
}

/** Whether one box contains another. */
export const holds = (outer: Bounds | null, { west, south, east, north }: Bounds) =>
  outer !== null && outer.west <= west && outer.south <= south && east <= outer.east && north <= outer.north;

/** The shapes to draw for a list of reads; reads of pages are drawn as the pages themselves. */
export function shapesOf({ reads, pages }: Pick<ViewCost, 'reads' | 'pages'>): Shape[] {
  const shapes = new Map<string, Shape>();
  const add = (name: string, { reads: at, ...rest }: Omit<Shape, 'id'>) => {
    const { id = shapes.size + 1, items = 0, readUnits = 0, reads: before = [] } = shapes.get(name) ?? {};
    const units = rest.readUnits === null ? null : rest.readUnits + (readUnits ?? 0);
    shapes.set(name, { ...rest, id, items: items + rest.items, readUnits: units, reads: [...before, ...at] });
  };
  for (const [index, { index: table, geohashes, ...read }] of reads.entries()) {
    if (!geohashes || table === 'pages') continue;
    const { first, last } = geohashes;
    add(`${first} ${last} ${read.cached}`, { ...read, cells: cellsOf(geohashes), reads: [index] });
  }
  for (const [at, { bounds, markers }] of pages.entries()) {
    if (!bounds) continue;
    const from = [...reads.keys()].filter(
      (index) => reads[index]?.index === 'pages' && holds(reads[index].bounds, bounds),
    );
    add(`page ${at}`, { cells: [bounds], cached: from.length === 0, items: markers, readUnits: null, reads: from });
  }
  return [...shapes.values()];
}
