import { opened, valueAt, type Item, type Mapping, type Path } from './mapping.js';

/** An item as its mapping sees it: if entries of a list are markers, with one of them in place of the list. */
export interface Entry {
  readonly item: Item;
  /** The number of the entry; undefined if the item itself is the marker. */
  readonly index: number | undefined;
}

/** Further entries are left out. */
const MOST_ENTRIES = 1_000;
const INDEXED = /^(.*)\/(?:0|[1-9]\d{0,2})$/s;

function replaced(stored: unknown, [step, ...rest]: Path, entry: unknown): unknown {
  if (step === undefined) return entry;
  const value = opened(stored);
  if (Array.isArray(value)) return value.with(Number(step), replaced(value[Number(step)], rest, entry));
  const map = value as Item;
  return { ...map, [step]: replaced(map[step], rest, entry) };
}

/** What may be markers in an item, in order; what is no list is its only entry. */
export function entriesIn({ each }: Pick<Mapping, 'each'>, item: Item): readonly Entry[] {
  if (each === undefined) return [{ item, index: undefined }];
  const found = opened(valueAt(item, each)) ?? [];
  const list = Array.isArray(found) ? found.slice(0, MOST_ENTRIES) : [found];
  return list.map((entry, index) => ({ item: replaced(item, each, entry) as Item, index }));
}

/** The key of the marker in an entry, from that of its item. */
export const entryKey = (key: string, index: number | undefined): string =>
  index === undefined ? key : `${key}/${index}`;

/** The key of the item of a marker, from which `entryKey` makes the marker's; undefined if none does. */
export function itemKey({ each }: Mapping, key: string): string | undefined {
  return each === undefined ? key : INDEXED.exec(key)?.[1];
}
