import { formatNumber } from './numbers.js';

/** A distance in meters in readable form. */
export function distanceText(meters: number): string {
  if (meters < 1_000) return `${Math.round(meters)} m`;
  return `${formatNumber(meters < 10_000 ? meters / 1_000 : Math.round(meters / 1_000))} km`;
}
