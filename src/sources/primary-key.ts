import type { TableKeyAttribute } from '../model/collection.js';
import { keyText, type Mapping } from './mapping.js';
import { itemParts } from './marker.js';
import { formatTemplate, joinKey, splitKey, splitOneWay } from './template.js';

const DECIMAL = /^(?!-0$)-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;
/** Digits that DynamoDB keeps of a number. */
const MOST_DIGITS = 38;

/** A key attribute's value from its text; undefined if no such value has this text. */
function valueOf(text: string, type: TableKeyAttribute['type']): unknown {
  if (type === 'S') return text;
  if (type === 'B') {
    const bytes = new Uint8Array(Buffer.from(text, 'base64'));
    return keyText(bytes) === text ? bytes : undefined;
  }
  const digits = text.replaceAll(/[-.]/g, '').replaceAll(/^0+|0+$/g, '');
  if (!DECIMAL.test(text) || digits.length > MOST_DIGITS) return undefined;
  const number = Number(text);
  if (keyText(number) === text && (Number.isSafeInteger(number) || !Number.isInteger(number))) return number;
  // A fraction with more digits than a double has is its own text, as in items.
  return text.includes('.') ? text : BigInt(text);
}

/**
 * The primary key of the item that a marker is in, if the marker's key alone tells it; else undefined. This holds for
 * either all or none of the items with that key, so that a table of keys needs to have only the others. Of a part of the
 * table's key, its values in all items with that marker's key, if that tells them.
 */
export function primaryKeyOf(
  mapping: Mapping,
  tableKey: readonly TableKeyAttribute[],
  key: string,
): Readonly<Record<string, unknown>> | undefined {
  const { items = {}, key: template } = mapping;
  const texts = new Map<string, string>();
  const parts = new Map<string, string>();
  if (template === undefined) {
    const names = [...new Set(Object.values(items).flatMap((each) => each.parts))];
    const values = splitKey(key, names.length);
    for (const [at, name] of names.entries()) parts.set(name, values?.[at] ?? '');
  } else {
    const values = splitOneWay(template, key);
    for (const [at, [name, ...inside]] of template.paths.entries()) {
      if (inside.length === 0) texts.set(String(name), values?.[at] ?? '');
    }
    // The parts in attributes that are known tell others.
    const known = Object.fromEntries(Object.entries(items).filter(([name]) => texts.has(name)));
    for (const [part, value] of itemParts(known, Object.fromEntries(texts)) ?? []) parts.set(part, value);
  }
  const found: Record<string, unknown> = {};
  for (const { name, type } of tableKey) {
    const own = Object.hasOwn(items, name) ? items[name] : undefined;
    const values = own?.parts.map((part) => parts.get(part) ?? '');
    const made = own && values?.every((part) => part !== '') === true ? formatTemplate(own, values) : '';
    const text = texts.get(name) ?? made;
    const value = text === '' ? undefined : valueOf(text, type);
    if (value === undefined) return undefined;
    found[name] = value;
  }
  // Only what an item with this key has: it may be split in other places.
  const own = Object.entries(items).filter(([name]) => Object.hasOwn(found, name));
  const back = itemParts(Object.fromEntries(own), found);
  if (back === undefined || (template === undefined && joinKey([...back.values()]) !== key)) return undefined;
  return found;
}
