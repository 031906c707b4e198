import { formatNumber } from './numbers.js';

/** A distance in metres in readable form. */
export function distanceText(metres: number): string {
  if (metres < 1_000) return `${Math.round(metres)} m`;
  return `${formatNumber(metres < 10_000 ? metres / 1_000 : Math.round(metres / 1_000))} km`;
}
