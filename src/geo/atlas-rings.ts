import type { Position } from './antimeridian.js';

/**
 * Closes a ring around a pole along the antimeridian: in world-atlas, such a ring circles the globe. Other rings are
 * returned unchanged.
 */
export function closedAtPole(ring: readonly Position[]): readonly Position[] {
  const jumps = ring.flatMap(([lng], index) =>
    index > 0 && Math.abs(lng - (ring[index - 1]?.[0] ?? lng)) > 180 ? [index] : [],
  );
  const [jump] = jumps;
  if (jump === undefined || jumps.length % 2 === 0) return ring;
  const [from = 0] = ring[jump - 1] ?? [];
  const [, lat = 0] = ring[jump] ?? [];
  const [side, pole] = [from > 0 ? 180 : -180, lat < 0 ? -90 : 90];
  return [...ring.slice(0, jump), [side, lat], [side, pole], [-side, pole], [-side, lat], ...ring.slice(jump)];
}

/** Whether a ring has more than one position: rounding in world-atlas reduced some islands to a point. */
export const hasExtent = (ring: readonly Position[]) =>
  ring.some(([lng, lat]) => lng !== ring[0]?.[0] || lat !== ring[0]?.[1]);
