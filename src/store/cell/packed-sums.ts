import type { CellSums } from '../../geo/cell-sums.js';

/*
 * The sums of a block's children in one binary attribute: half the size of an attribute for each number, and a tenth of
 * the time to read. For each child its character, its count and its two sums, each number as six bits, a sign, and as
 * many groups of seven bits as it needs, least significant first.
 */

const MORE = 0x80;
const NEGATIVE = 0x40;

/** Numbers may have 53 bits, bitwise operators 32. */
function pushNumber(bytes: number[], value: number): void {
  const size = Math.abs(value);
  let rest = Math.floor(size / 64);
  bytes.push((size % 64) | (value < 0 ? NEGATIVE : 0) | (rest > 0 ? MORE : 0));
  while (rest > 0) {
    const group = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(group | (rest > 0 ? MORE : 0));
  }
}

export function packSums(children: ReadonlyMap<string, CellSums>): Uint8Array {
  const bytes: number[] = [];
  for (const [child, { count, sumLng, sumLat }] of children) {
    bytes.push(child.charCodeAt(0));
    for (const value of [count, sumLng, sumLat]) pushNumber(bytes, value);
  }
  return Uint8Array.from(bytes);
}

export function unpackSums(bytes: Uint8Array): Map<string, CellSums> {
  const children = new Map<string, CellSums>();
  let at = 0;
  const next = () => bytes[at++] ?? 0;
  const nextNumber = () => {
    const first = next();
    let value = first & 63;
    let scale = 64;
    for (let byte = first; byte & MORE; scale *= 128) {
      byte = next();
      value += (byte & 127) * scale;
    }
    return first & NEGATIVE ? -value : value;
  };
  while (at < bytes.length) {
    const child = String.fromCharCode(next());
    children.set(child, { count: nextNumber(), sumLng: nextNumber(), sumLat: nextNumber() });
  }
  return children;
}
