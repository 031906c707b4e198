import type { GeoSlot } from '../model/collection.js';

/** The sparse indexes of the entities table and the attributes that put an item into them. */
export const INDEXES = {
  geoA: { pk: 'gpkA', sk: 'gskA' },
  geoB: { pk: 'gpkB', sk: 'gskB' },
  place: { pk: 'ppk', sk: 'psk' },
  global: { pk: 'globalId' },
} as const satisfies Readonly<Record<string, IndexAttributes>>;

/** Names of the attributes that are an index's partition and sort key. */
export interface IndexAttributes {
  readonly pk: string;
  readonly sk?: string;
}

export type GeoIndexName = 'geoA' | 'geoB';

const GEO_INDEX = { A: 'geoA', B: 'geoB' } as const satisfies Record<GeoSlot, GeoIndexName>;

/** The index that a collection's markers stand in by its slot. */
export function geoIndexOf(slot: GeoSlot): GeoIndexName {
  return GEO_INDEX[slot];
}
