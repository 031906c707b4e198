import { isDeepStrictEqual } from 'node:util';

import { CellportError, notFound } from '../../errors.js';
import { type Collection, writtenMapProperties } from '../../model/collection.js';
import { type Properties, pickProperties } from '../../model/marker.js';
import type { Database, Item } from '../database.js';
import { changeItem } from '../request/conditional-change.js';
import { checkItemSize } from '../request/item-size.js';
import type { Call } from '../request/meter.js';

/** A marker's item with the map properties that a writer gives it; the same item if it has them. */
function redrawn(collection: Collection, found: Item): Item {
  const { m, mc, properties } = found;
  // Otherwise all properties are in `m`.
  if (mc !== false || typeof properties !== 'object' || properties === null) return found;
  const picked = pickProperties(properties as Properties, writtenMapProperties(collection));
  if (isDeepStrictEqual(picked, m)) return found;
  const next = { ...found, m: picked };
  checkItemSize(next, 'marker', 'properties');
  return next;
}

/**
 * Gives a marker the map properties that a writer of this collection would give it; `found` is its item. Its versions
 * stay as they are: of two copies with the same map version, both have what readers may rely on. Returns whether it
 * changed anything. Throws BAD_USER_INPUT if the marker would become too large.
 */
export async function redrawMarker(
  database: Database,
  collection: Collection,
  found: Item,
  call: Call,
): Promise<boolean> {
  const decide = (current: Item | undefined) => {
    if (current === undefined) throw notFound('marker', String(found['pk']));
    return { found: current, next: redrawn(collection, current) };
  };
  try {
    const { before, after } = await changeItem(database, async () => found, decide, call);
    return before !== after;
  } catch (error) {
    if (error instanceof CellportError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}
