import { textFor } from './property-text.js';

/** The part of a marker that its form edits. */
export interface Fields {
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
/** The user's change if there is one, otherwise that of someone else. */
const pick = <T>(base: T, mine: T, theirs: T): T => (same(base, mine) ? theirs : mine);
const own = (of: Readonly<Record<string, unknown>>, name: string) => (Object.hasOwn(of, name) ? of[name] : undefined);

/** The changes from `base` to `mine`, applied to `theirs`. */
export function merge(base: Fields, mine: Fields, theirs: Fields): Fields {
  const names = [...new Set([...Object.keys(theirs.properties), ...Object.keys(mine.properties)])];
  const properties = names
    .map((name) => {
      const [one, two, three] = [base, mine, theirs].map((each) => own(each.properties, name));
      return [name, pick(one, two, three)] as const;
    })
    .filter(([, value]) => value !== undefined);
  return {
    name: pick(base.name, mine.name, theirs.name),
    category: pick(base.category, mine.category, theirs.category),
    properties: Object.fromEntries(properties),
  };
}

/** The fields that differ, with their new values. */
export function changesBetween(before: Fields, after: Fields): Partial<Fields> {
  return {
    ...(before.name !== after.name && { name: after.name }),
    ...(before.category !== after.category && { category: after.category }),
    ...(!same(merge(before, after, before).properties, before.properties) && { properties: after.properties }),
  };
}

/** The differences as text, for example `population: 5 → 6`. */
export function differences(before: Fields, after: Fields): string[] {
  const text = (value: unknown) => (value === undefined || value === null ? 'none' : textFor(value));
  const names = [...new Set([...Object.keys(before.properties), ...Object.keys(after.properties)])];
  const rows = [
    ['name', before.name, after.name],
    ['category', before.category, after.category],
    ...names.map((name) => [name, own(before.properties, name), own(after.properties, name)]),
  ] as const;
  return rows.filter(([, old, next]) => !same(old, next)).map(([name, old, next]) => `${String(name)}: ${text(old)} → ${text(next)}`); // prettier-ignore
}
