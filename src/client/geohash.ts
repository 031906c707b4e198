import type { Position } from './tiles.js';

const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz';

/** The geohash of the cell that a position belongs to, as the server computes it. */
export function geohashOf({ lng, lat }: Position, length: number): string {
  const axes = [
    { value: lng === 180 ? -180 : lng, least: -180, most: 180 },
    { value: lat, least: -90, most: 90 },
  ];
  let bits = '';
  while (bits.length < 5 * length) {
    for (const axis of axes) {
      const middle = (axis.least + axis.most) / 2;
      const isAbove = axis.value > middle;
      if (isAbove) axis.least = middle;
      else axis.most = middle;
      bits += isAbove ? 1 : 0;
    }
  }
  return Array.from({ length }, (_, at) => ALPHABET[Number.parseInt(bits.slice(5 * at, 5 * at + 5), 2)]).join('');
}
