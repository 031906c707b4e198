import { jsonOfStored } from '../model/json.js';
import { entriesIn } from './entries.js';
import { mustBeAt, pathText, valueAt, type Item, type Mapping, type Path } from './mapping.js';
import { itemParts } from './marker.js';
import { writeTemplate } from './template.js';

/** Why an item does not match, in words that others share; the message names the attribute, its value and what is allowed. */
export interface Mismatch {
  readonly reason: string;
  readonly message: string;
}

function mismatch(path: Path, allowed: string, value: unknown): Mismatch {
  const reason = value === undefined ? `no ${pathText(path)}` : `no match by ${pathText(path)}`;
  return { reason, message: mustBeAt(path, allowed, value) };
}

/** Why an item does not match a mapping; if it does, it has expired. */
export function mismatchOf({ items = {}, each, where, ttl }: Mapping, item: Item): Mismatch {
  for (const [attribute, template] of Object.entries(items)) {
    if (itemParts({ [attribute]: template }, item)) continue;
    const value = Object.hasOwn(item, attribute) ? item[attribute] : undefined;
    return mismatch([attribute], `like ${JSON.stringify(writeTemplate(template))}`, value);
  }
  if (itemParts(items, item) === undefined)
    return { reason: 'no match by items', message: 'a part has different values in two attributes' };
  if (each && entriesIn({ each }, item).length === 0)
    return mismatch(each, 'a list with an entry for each marker', valueAt(item, each));
  for (const { path, holds, asked } of where) {
    const value = valueAt(item, path);
    if (!holds(jsonOfStored(value))) return mismatch(path, `as asked by ${asked}`, value);
  }
  const path = ttl ?? [];
  return { reason: 'expired', message: mustBeAt(path, 'a time to come', valueAt(item, path)) };
}
