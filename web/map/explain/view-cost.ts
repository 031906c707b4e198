import type { Answer, Read } from '../../../src/client/public.js';

/** What a view read: all responses between two moves of the map, of all layers and pages. */
export interface ViewCost {
  /** Number of responses; 0 if everything was loaded already. */
  readonly answers: number;
  readonly queries: number;
  readonly readUnits: number;
  /** Items read by Query calls, before filters. */
  readonly items: number;
  /** Items read by key, which are in no range. */
  readonly byKey: number;
  readonly cacheHits: number;
  /** Time of the slowest response. */
  readonly ms: number;
  /** Number of features that the map showed at the last response. */
  readonly shown: number;
  readonly reads: readonly Read[];
  readonly readsLeftOut: number;
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
  reads: [],
  readsLeftOut: 0,
  regions: [],
};

/** The cost of a view after one more response. */
export function addAnswer(view: ViewCost, { cost, reads, readsLeftOut, regions, ms }: Answer, shown: number): ViewCost {
  return {
    answers: view.answers + 1,
    queries: view.queries + (cost?.queries ?? 0),
    readUnits: view.readUnits + (cost?.readUnits ?? 0),
    items: view.items + (cost?.itemsScanned ?? 0),
    byKey: view.byKey + (cost?.getItems ?? 0),
    cacheHits: view.cacheHits + (cost?.cacheHits ?? 0),
    ms: Math.max(view.ms, ms),
    shown,
    reads: [...view.reads, ...reads],
    readsLeftOut: view.readsLeftOut + readsLeftOut,
    regions: [...view.regions, ...regions],
  };
}

/** Ranges of the same cells, drawn as one: those of all write shards and of several layers. */
export interface Shape {
  readonly id: number;
  readonly geohashes: NonNullable<Read['geohashes']>;
  readonly cached: boolean;
  readonly items: number;
  readonly readUnits: number;
  /** Their indexes in the list of reads. */
  readonly reads: readonly number[];
}

/** The shapes to draw for a list of reads. */
export function shapesOf(reads: readonly Read[]): Shape[] {
  const shapes = new Map<string, Shape>();
  for (const [index, { geohashes, cached, items, readUnits }] of reads.entries()) {
    if (!geohashes) continue;
    const name = `${geohashes.first} ${geohashes.last} ${cached}`;
    const shape = shapes.get(name) ?? { id: shapes.size + 1, geohashes, cached, items: 0, readUnits: 0, reads: [] };
    shapes.set(name, {
      ...shape,
      items: shape.items + items,
      readUnits: shape.readUnits + readUnits,
      reads: [...shape.reads, index],
    });
  }
  return [...shapes.values()];
}
