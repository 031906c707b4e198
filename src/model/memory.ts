import type { MapMarker } from './marker.js';

/** Characters that JSON writes as up to six. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /[\u0000-\u001f]/;

/** The memory of a text in bytes, with that of its JSON in UTF-8. */
export const bytesOfText = (text: string): number => (ESCAPED.test(text) ? 8 : 2) * Buffer.byteLength(text);

/**
 * The approximate memory of a JSON value in bytes, with that of its JSON in UTF-8. The length of that alone says little:
 * a list of empty objects takes 67 bytes for each three of it.
 */
export function bytesOfValue(value: unknown): number {
  let bytes = 0;
  // Not by recursion: a client's value may be nested deeply.
  const open = [value];
  while (open.length > 0) {
    const each = open.pop();
    bytes += 24;
    if (typeof each === 'string') bytes += bytesOfText(each);
    if (typeof each !== 'object' || each === null) continue;
    bytes += 40;
    for (const name of Array.isArray(each) ? [] : Object.keys(each)) bytes += 32 + bytesOfText(name);
    for (const inner of Object.values(each)) {
      bytes += 8;
      open.push(inner);
    }
  }
  return bytes;
}

const MARKER_BYTES = 600;

/**
 * The approximate memory of a marker in bytes, with its position in the order of its collection and the Feature made of
 * it: both repeat its key, which takes three times as much where it is escaped.
 */
export function bytesOfMarker({ key, name, category, mapProperties }: MapMarker): number {
  return MARKER_BYTES + 4 * bytesOfText(key) + bytesOfValue([name, category, mapProperties]);
}

/**
 * A text in UTF-8 in memory of its own, to be kept for long: a part of Node's pool would keep the 8 KB around it, on Node
 * 24 64 KB, with all that has been in them.
 */
export function ownBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  buffer.write(text);
  return buffer;
}
