import type { Point } from '../../src/geo/bounds.js';
import { distance } from '../../src/geo/distance.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import type { NearbyConnection } from '../../src/map/near/near.js';
import type { Made } from './fixture.js';

/** Half around the globe, in meters. */
export const FARTHEST = 20_015_114.35;

export interface Near {
  readonly key: string;
  readonly distance: number;
}

/** All markers within a radius, in order, by a linear scan. */
export function brute(markers: readonly Made[], center: Point, radius: number): Near[] {
  return markers
    .map(({ key, position }) => ({ key, distance: distance(center, position) }))
    .filter((near) => near.distance <= (radius >= FARTHEST ? Infinity : radius))
    .sort((a, b) => a.distance - b.distance || compareBytes(a.key, b.key));
}

/** The markers of a page, with their distances. */
export const toNear = ({ edges }: Pick<NearbyConnection, 'edges'>): Near[] =>
  edges.map(({ node, distance: meters }) => ({ key: node.key, distance: meters }));
