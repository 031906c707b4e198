import type { Collection } from '../api/documents.js';
import { ACCENT_COUNT } from '../base-map/palette.js';

/** Bernstein's hash with 32 bits. */
function hashOf(text: string): number {
  let hash = 5381;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 33) + text.charCodeAt(at)) >>> 0;
  return hash;
}

/**
 * The accent color of each collection, as an index. It is derived from the key; if two collections' keys give the same
 * color, the one created later takes the next free one. So a new collection never changes the color of another. Those
 * in `known` keep theirs.
 */
export function accentsOf(
  collections: readonly Pick<Collection, 'key' | 'createdAt'>[],
  known: ReadonlyMap<string, number> = new Map(),
): ReadonlyMap<string, number> {
  const accents = new Map(known);
  const used = new Set(known.values());
  const created = collections.toSorted((a, b) => (a.createdAt + a.key < b.createdAt + b.key ? -1 : 1));
  for (const { key } of created) {
    if (accents.has(key)) continue;
    let accent = hashOf(key) % ACCENT_COUNT;
    while (used.size < ACCENT_COUNT && used.has(accent)) accent = (accent + 1) % ACCENT_COUNT;
    used.add(accent);
    accents.set(key, accent);
  }
  return accents;
}
