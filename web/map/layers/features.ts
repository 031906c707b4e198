import type { Feature, FeatureCollection } from 'geojson';

import type { TileContent } from '../../../src/client/options.js';
import { toFeatures, type MapMarker } from '../../../src/client/public.js';
import { EMPTY } from '../../../src/client/tile-cache.js';
import type { Look } from '../rules/look.js';

/** What a map feature represents: its property `kind`. `single` is a cluster of one marker. */
export type Kind = 'marker' | 'single' | 'cluster' | 'zone';

const COMPACT = Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** The properties that the map layers' styles need. */
function styleOf(properties: Readonly<Record<string, unknown>>): object {
  const { kind, name, id } = properties;
  const count = Number(properties['count']);
  if (kind === 'zone') return { kind, id, name: name ?? '' };
  if (kind === 'cluster') {
    const drawnAs: Kind = count === 1 ? 'single' : 'cluster';
    const text = COMPACT.format(count).replace('K', 'k');
    return { kind: drawnAs, id, name: '', weight: 0, size: Math.log10(count), text, count };
  }
  // Names compete for space: markers with the largest numeric property take precedence.
  const numbers = Object.values(properties).filter((value): value is number => typeof value === 'number');
  return { kind, id, name: name ?? '', weight: Math.max(0, ...numbers) };
}

/**
 * A viewport's content as features with the properties that the layers' styles need; `lookOf` adds those of individual
 * markers.
 */
export function styledFeatures(
  content: Partial<TileContent>,
  lookOf: (marker: MapMarker) => Look = () => ({}),
): FeatureCollection {
  const { features } = toFeatures({ ...EMPTY, ...content });
  const looks = new Map((content.markers ?? []).map((marker) => [marker.id, lookOf(marker)]));
  return {
    type: 'FeatureCollection',
    features: features.map(({ type, geometry, properties }): Feature => {
      const look = properties['kind'] === 'marker' ? looks.get(String(properties['id'])) : undefined;
      return { type, geometry, properties: { ...styleOf(properties), ...look } };
    }),
  };
}
