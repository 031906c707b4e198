import type { Answer, Read } from '../../../src/client/public.js';

/** What a map asked between two moves, all its layers and pages together. */
export interface Pan {
  /** Answers that came; 0 where the page knew everything already. */
  readonly answers: number;
  readonly queries: number;
  readonly readUnits: number;
  /** Items that Query calls read, before filters. */
  readonly items: number;
  /** Items asked for by key, which no range tells of. */
  readonly byKey: number;
  readonly cacheHits: number;
  /** Of the slowest answer. */
  readonly ms: number;
  /** What the map showed when the last answer came. */
  readonly shown: number;
  readonly reads: readonly Read[];
  readonly readsLeftOut: number;
  readonly regions: Answer['regions'];
}

export const NOTHING: Pan = {
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

/** A pan with one more answer. */
export function added(pan: Pan, { cost, reads, readsLeftOut, regions, ms }: Answer, shown: number): Pan {
  return {
    answers: pan.answers + 1,
    queries: pan.queries + (cost?.queries ?? 0),
    readUnits: pan.readUnits + (cost?.readUnits ?? 0),
    items: pan.items + (cost?.itemsScanned ?? 0),
    byKey: pan.byKey + (cost?.getItems ?? 0),
    cacheHits: pan.cacheHits + (cost?.cacheHits ?? 0),
    ms: Math.max(pan.ms, ms),
    shown,
    reads: [...pan.reads, ...reads],
    readsLeftOut: pan.readsLeftOut + readsLeftOut,
    regions: [...pan.regions, ...regions],
  };
}

/** Ranges of the same cells, drawn as one: those of all write shards, and of several layers. */
export interface Shape {
  readonly id: number;
  readonly geohashes: NonNullable<Read['geohashes']>;
  readonly cached: boolean;
  readonly items: number;
  readonly readUnits: number;
  /** Their places in the list of reads. */
  readonly reads: readonly number[];
}

/** What can be drawn of reads, each with the places in the list that it stands for. */
export function shapesOf(reads: readonly Read[]): Shape[] {
  const shapes = new Map<string, Shape>();
  for (const [at, { geohashes, cached, items, readUnits }] of reads.entries()) {
    if (!geohashes) continue;
    const name = `${geohashes.first} ${geohashes.last} ${cached}`;
    const known = shapes.get(name) ?? { id: shapes.size + 1, geohashes, cached, items: 0, readUnits: 0, reads: [] };
    shapes.set(name, {
      ...known,
      items: known.items + items,
      readUnits: known.readUnits + readUnits,
      reads: [...known.reads, at],
    });
  }
  return [...shapes.values()];
}
