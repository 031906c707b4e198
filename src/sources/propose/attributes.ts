import { plainName } from '../../geo/coordinate-names.js';
import { isMap, opened, valueAt, writePath, type Item, type MappingJson, type Path } from '../mapping.js';

const NAME = /name$|title$|label$|headline$|^(?:nom(?:e|bre)?|naam|nazwa|na[mv]n|bezeichnung|tit(?:re|el|ulo))$/;
/** The other end of a ride, or where something was before. */
export const SECOND = /^(?:end|to(?!wn|wer|p)|dest|drop|finish|arriv|target|prev|former|old)/;
/** Names of something else than the place. */
const OTHER_NAME = /^(?:type|user|file|host|table|class|schema|collection|model|first|last|contact|owner)names?$/;
const LOCALITY = /^(?:city|town|address)$/;
const PROSE = /desc|note|comment|text|url|query|path/;
const CATEGORY = [/category$/, /kind$/, /type$/, /class$/, /genre$/];
const MOST_CATEGORIES = 20;
const GONE = /^(?:is)?(?:soft)?(?:deleted|archived|hidden|removed|disabled|inactive)$/;
const GONE_AT = /^(?:deleted|archived|removed)(?:at|on|date|time)$/;
const SHOWN = /^(?:is)?(?:visible|published|public|active|enabled)$/;
const YES = [true, 1, 'true', 'yes', 'Y', '1'] as const;
const STATUS = /status$|^state$/;
const GONE_STATUS = /^(?:(?:soft_?)?deleted|archived|removed|disabled|inactive|unpublished|draft|retired)$/i;
const EXPIRY = /^(?:ttl|timetolive|expir(?:e|es|y|ation)(?:s?(?:at|on|time|date))?)$/;
const TIME = /time|date|stamp|recorded|received|seen|(?:at|ts)$/;
const KEY = /^(?:sk|sort(?:key)?|range(?:key)?)$/;
/** Seconds and milliseconds from 2001 to 2096. */
const SECONDS = { from: 1e9, to: 4e9 };

/** Whether a value may be a time: seconds, milliseconds, or text that begins with a date, behind what names a kind. */
export function isTime(name: string, value: unknown): boolean {
  const [, label, rest = ''] = typeof value === 'string' ? (/^([A-Za-z_]+[#:|/]+)?(.*)$/s.exec(value) ?? []) : [];
  if (/^\d{4}-\d\d-\d\d/.test(rest)) return true;
  const isNamed = label !== undefined || [TIME, KEY, EXPIRY].some((names) => names.test(plainName(name)));
  const time = rest === '' ? value : /^\d+$/.test(rest) ? Number(rest) : undefined;
  if (!isNamed || typeof time !== 'number') return false;
  return [time, time / 1_000].some((seconds) => seconds >= SECONDS.from && seconds < SECONDS.to);
}

/** The paths in these items to values, up to so many names deep. */
export function pathsIn(items: readonly Item[], most = 2): Path[] {
  const found = new Map<string, Path>();
  const add = (map: Item, base: Path) => {
    for (const [name, stored] of Object.entries(map)) {
      const [path, value] = [[...base, name], opened(stored)];
      if (isMap(value) && path.length < most) add(value, path);
      else found.set(JSON.stringify(path), path);
    }
  };
  for (const item of items) add(item, []);
  return [...found.values()];
}

const namesIn = (items: readonly Item[]) => [...new Set(items.flatMap((item) => Object.keys(item)))];

/** How far a path is a name: by what it is called, or else by its values: differing words with blanks between them. */
function nameRank(path: Path, items: readonly Item[]): number {
  const texts = items.map((item) => valueAt(item, path)).filter((value) => typeof value === 'string');
  const values = texts.filter((text) => text !== '');
  const plain = plainName(String(path.at(-1)));
  const depth = path.length / 10 + (SECOND.test(plain) ? 1 : 0);
  if (values.length * 2 < items.length) return 0;
  if (plain === 'name') return 6 - depth;
  if (NAME.test(plain) && !OTHER_NAME.test(plain)) return 5 - depth - plain.length / 100;
  if (LOCALITY.test(plain)) return 3 - depth;
  const words = values.filter((value) => /^\p{L}.* .*\p{L}/u.test(value) && value.length < 60).length;
  const areNames = words * 1.7 > items.length && new Set(values).size > 0.9 * items.length && !PROSE.test(plain);
  return areNames ? 2 - depth : 0;
}

/** The path of the name of these items; undefined if none seems to be it. */
export function nameOf(items: readonly Item[]): Path | undefined {
  const best = (depth: number) => {
    const ranked = pathsIn(items, depth).map((path) => ({ path, rank: nameRank(path, items) }));
    return ranked.filter(({ rank }) => rank > 0).toSorted((a, b) => b.rank - a.rank)[0]?.path;
  };
  // Deeper, as in a document with a Feature, only if there is none above.
  return best(2) ?? best(3);
}

/** The attribute with the category of these items; undefined if none seems to be it. */
export function categoryOf(items: readonly Item[]): string | undefined {
  const names = namesIn(items);
  const fits = (name: string) => {
    const values = items.map((item) => item[name]).filter((value) => typeof value === 'string' && value !== '');
    const kinds = new Set(values).size;
    return kinds > 1 && kinds <= Math.min(MOST_CATEGORIES, values.length / 2);
  };
  return CATEGORY.flatMap((pattern) => names.filter((name) => pattern.test(plainName(name)))).find(fits);
}

/** The attribute with the time at which these items expire; undefined if none has it. */
export function ttlOf(items: readonly Item[]): string | undefined {
  const names = namesIn(items).filter((name) => EXPIRY.test(plainName(name)));
  return names.find((name) => items.every((item) => (item[name] ?? null) === null || isTime(name, item[name])));
}

/** The attributes of all these items that have a time when each was written, the likeliest first. */
export function timesOf(items: readonly Item[]): string[] {
  const [first = {}] = items;
  const isRecord = (name: string) => Number(/record|updat|receiv|seen/.test(plainName(name)));
  return Object.keys(first)
    .filter((name) => !EXPIRY.test(plainName(name)) && items.every((item) => isTime(name, item[name])))
    .toSorted((a, b) => isRecord(b) - isRecord(a));
}

/** Tests for attributes that mark items as deleted or hidden, whether any of these is or not. */
export function testsOf(items: readonly Item[]): NonNullable<MappingJson['where']> {
  const names = new Set(namesIn(items));
  // With this, Amplify marks only items that are deleted.
  if (names.has('_lastChangedAt')) names.add('_deleted');
  return [...names].flatMap((name): NonNullable<MappingJson['where']> => {
    const [path, plain] = [writePath([name]), plainName(name)];
    const values = new Set(items.map((item) => item[name] ?? null));
    const yes = YES.find((value) => values.has(value));
    const isFlag = [...values].every((value) => value === null || typeof value === 'boolean');
    if (GONE.test(plain) && (isFlag || yes !== undefined)) return [{ path, ne: yes ?? true }];
    if (GONE_AT.test(plain) && values.has(null)) return [{ path, eq: null }];
    if (SHOWN.test(plain) && yes !== undefined && values.size > 1) return [{ path, eq: yes }];
    const texts = [...values].filter((value) => typeof value === 'string');
    return STATUS.test(plain) ? texts.filter((text) => GONE_STATUS.test(text)).map((ne) => ({ path, ne })) : [];
  });
}
