import type { GeoSlot } from '../model/collection.js';

/** The sparse indexes of the entities table, with their key attributes. */
export const INDEXES = {
  geoA: { pk: 'gpkA', sk: 'gskA' },
  geoB: { pk: 'gpkB', sk: 'gskB' },
  place: { pk: 'ppk', sk: 'psk' },
  global: { pk: 'globalId' },
} as const satisfies Readonly<Record<string, IndexAttributes>>;

/** Names of an index's partition key and sort key attributes. */
export interface IndexAttributes {
  readonly pk: string;
  readonly sk?: string;
}

export type IndexName = keyof typeof INDEXES;
export type GeoIndexName = 'geoA' | 'geoB';

const GEO_INDEX = { A: 'geoA', B: 'geoB' } as const satisfies Record<GeoSlot, GeoIndexName>;

/** The geo index that a collection uses, by its slot. */
export function geoIndexOf(slot: GeoSlot): GeoIndexName {
  return GEO_INDEX[slot];
}

/** All attributes with the keys of geo indexes. */
export const GEO_ATTRIBUTES: readonly string[] = [INDEXES.geoA, INDEXES.geoB].flatMap(({ pk, sk }) => [pk, sk]);
