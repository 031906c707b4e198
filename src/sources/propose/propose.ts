import { plainName } from '../../geo/coordinate-names.js';
import type { TableKeyAttribute } from '../../model/collection.js';
import { jsonOfStored } from '../../model/json.js';
import { entriesIn } from '../entries.js';
import { isMap, keyText, readMapping, valueAt, writePath, type Item, type MappingJson, type Path } from '../mapping.js';
import { itemParts, markersOf } from '../marker.js';
import { readPosition } from '../position.js';
import { categoryOf, isTime, nameOf, pathsIn, testsOf, timesOf, ttlOf } from './attributes.js';
import { proposePosition, type ProposedPosition } from './position.js';
import { areVersions, BEHIND_TIME } from './sort-keys.js';

const DEEPEST = 3;

interface ProposedEntries extends ProposedPosition {
  readonly each: Path;
  /** That of an entry; undefined if it seems to have none. */
  readonly name: Path | undefined;
}

/** The list in items whose entries have positions; undefined if there is none. */
function proposeEntries(items: readonly Item[]): ProposedEntries | undefined {
  const isList = (path: Path) => items.some((item) => Array.isArray(valueAt(item, path)));
  for (const each of pathsIn(items, DEEPEST).filter(isList)) {
    const entries = items.flatMap((item) => entriesIn({ each }, item).map((entry) => entry.item));
    const found = proposePosition(entries);
    if (!found) continue;
    const name = nameOf(entries.map((entry) => valueAt(entry, each)).filter(isMap));
    return { ...found, each, name: name && [...each, ...name] };
  }
  return undefined;
}

/** A table of which items were sampled. */
export interface SampledTable {
  readonly name: string;
  readonly key: readonly TableKeyAttribute[];
}

/** A mapping for the items of one kind. */
export interface Proposal {
  /** What these items have in common: the value of their type attribute, or the beginnings of their keys. */
  readonly kind: string;
  /** How many sampled items are of this kind, and how many markers they are, whether expired or not. */
  readonly items: number;
  readonly markers: number;
  readonly mapping: MappingJson;
  /** What is not sure, and what else a mapping could say. */
  readonly notes: readonly string[];
}

/** Items that nothing tells apart from others. */
export const NO_KIND = '(no kind)';
const MOST_ITEMS = 500;
const MOST_KINDS = 20;
const TYPE =
  /^(?:type(?:name)?|entity(?:type|name)?|schema|model|kind|et|edbe|class|(?:object|item|record|doc|document|resource|data)type)$/;
/** The beginning of a key that names a kind, as in `SHOP#1`. */
const LABEL = /^[#$]?[A-Za-z][A-Za-z_]*(?:#|::?|\||\/)(?=.)/;
/** A sort key that wholly names a kind, as `META`. */
const LITERAL = /^#?[A-Za-z_]+#?$/;
/** A sort key that is the number of a version. */
const VERSION = /^v(?:er(?:sion)?)?[-_#:/]?(\d+)(?!\d)/i;
/** What moves and tells where it is. */
const THING = /^(?:device|vehicle|tracker|sensor|asset|driver|courier|rider|truck|bus|vessel|imei|mmsi|thing)/;
const ID = /(?:id|uuid|code|number)$/;
/** What a sort key with the time of a reading begins with. */
const READING = /^(?:loc|pos|read|gps|ping|po?i?nt|time|ts|track|telem|hist|meas|sample|obs|log|data|state|status)/;
/** What holds many things, each with a time of its own. */
const GROUP =
  /^(?:tenant|org|customer|account|company|region|country|state$|city|area|zone|day|date|category|type|kind)/;

const textAt = (item: Item, name: string): string => keyText(item[name]) ?? '';
/** Bytes have none: their base64 may look so. */
const labelIn = (value: unknown) => (typeof value === 'string' && LABEL.exec(value)?.[0]) || '';
const isThing = (item: Item | undefined, name: string) => THING.test(plainName(labelIn(item?.[name]) + name));
const isUnique = (values: readonly unknown[]) => new Set(values).size === values.length;
const pathOf = (name: string) => writePath([name]);
/** A part of a template that is an attribute. */
export const partOf = (name: string) => `{${/[.[\]{}]/.test(name) ? JSON.stringify([name]) : name}}`;

/** The attribute by which kinds differ; undefined if there is none. */
function typeAttribute(items: readonly Item[], key: readonly TableKeyAttribute[]): string | undefined {
  const names = new Set(items.flatMap((item) => Object.keys(item)).filter((name) => TYPE.test(plainName(name))));
  for (const { name } of key) names.delete(name);
  const counted = [...names].map((name) => {
    const values = items.map((item) => item[name]).filter((value) => typeof value === 'string');
    return { name, count: values.length, kinds: new Set(values).size };
  });
  const usable = counted.filter(({ count, kinds }) => count * 2 >= items.length && kinds <= MOST_KINDS);
  return usable.toSorted((a, b) => b.count - a.count)[0]?.name;
}

/** The items by kind: by their type, or by what their keys begin with. */
function kindsOf(
  items: readonly Item[],
  key: readonly TableKeyAttribute[],
  type: string | undefined,
): Map<string, Item[]> {
  const kinds = new Map<string, Item[]>();
  for (const item of items) {
    const labels = key.map(({ name }, at) => {
      const text = item[name];
      return labelIn(text) || (at > 0 && typeof text === 'string' && LITERAL.test(text) ? text : '');
    });
    const value = type === undefined ? undefined : item[type];
    const kind = typeof value === 'string' ? value : [...new Set(labels)].filter(Boolean).join(' ');
    kinds.set(kind, [...(kinds.get(kind) ?? []), item]);
  }
  return kinds.size <= MOST_KINDS ? kinds : new Map([['', [...items]]]);
}

/** A text as a template without parts. */
const literal = (text: string) => text.replace(/[{}]/g, '$&$&');

/** Templates that the keys of these items match; a sort key that tells nothing more has no part of its own. */
function templatesOf(items: readonly Item[], key: readonly TableKeyAttribute[]): Record<string, string> {
  let first: readonly string[] | undefined;
  const templates = key.map(({ name }) => {
    const texts = items.map((item) => textAt(item, name));
    const [only = ''] = texts;
    const label = labelIn(items[0]?.[name]);
    const prefix = texts.every((text) => text.startsWith(label)) ? label : '';
    const rests = texts.map((text) => text.slice(prefix.length));
    const isFirst = first === undefined;
    first ??= rests;
    if (rests.every((rest, at) => rest === first?.[at])) return [name, `${prefix}{key}`];
    const isLiteral = !isFirst && new Set(texts).size === 1 && (items.length > 1 || LITERAL.test(only));
    return [name, isLiteral ? literal(only) : `${prefix}{sort}`];
  });
  return Object.fromEntries(templates) as Record<string, string>;
}

/** The attributes that are a marker's key, and what tells the newest of several items with it. */
interface Identity {
  readonly names: readonly string[];
  readonly newest?: string;
  /** The sort key of the item that counts, if all of those of a marker but one are its former versions. */
  readonly current?: string | undefined;
  /** The partition key, if what it holds is not taken for readings, although each has a time. */
  readonly group?: readonly string[];
}

/** Whether items in one partition, each with its time as the sort key, are readings of one thing: not orders of a user. */
function areReadings(
  items: readonly Item[],
  partition: string,
  sort: string,
  positionOf: (item: Item) => string,
): boolean {
  const [first] = items;
  const apart = (valueOf: (item: Item) => unknown) =>
    new Set(items.map((item) => JSON.stringify([textAt(item, partition), valueOf(item)]))).size;
  const partitions = apart(() => '');
  if (isThing(first, partition) || partitions === items.length || apart(positionOf) === partitions) return true;
  const label = plainName(labelIn(first?.[sort]));
  if (label !== '' && !READING.test(label)) return false;
  if (GROUP.test(plainName(labelIn(first?.[partition]) || partition))) return false;
  if (items.some((item) => BEHIND_TIME.test(textAt(item, sort)))) return false;
  const name = nameOf(items);
  return name === undefined || apart((item) => jsonOfStored(valueAt(item, name))) < items.length;
}

/** Whether the partition key is a prefix of another attribute, as of a geohash: where the item is, not which one. */
function isBucket(item: Item, partition: string): boolean {
  const text = textAt(item, partition).replace(LABEL, '');
  return Object.entries(item).some(([name, value]) => {
    const other = name === partition || isMap(value) ? '' : (keyText(value) ?? '');
    return other.length > text.length && other.startsWith(text);
  });
}

function identityOf(
  items: readonly Item[],
  key: readonly TableKeyAttribute[],
  templates: Readonly<Record<string, string>>,
  positionOf: (item: Item) => string,
): Identity {
  const [partition, sort] = key.map(({ name }) => name);
  if (partition === undefined || sort === undefined || templates[sort]?.includes('{sort}') !== true) {
    return { names: partition === undefined ? [] : [partition] };
  }
  const sorts = items.map((item) => textAt(item, sort));
  const areTimes = (name: string) => items.every((item) => isTime(name, item[name]));
  if (areVersions(sort, sorts)) return { names: [partition], newest: sort };
  if (areTimes(sort) && areReadings(items, partition, sort, positionOf)) return { names: [partition], newest: sort };
  if (areTimes(sort)) return { names: [partition, sort], group: [partition] };
  if (areTimes(partition) && !isUnique(sorts)) return { names: [sort], newest: partition };
  const versions = sorts.map((text) => VERSION.exec(text)?.[1]);
  if (versions.every((version) => version !== undefined)) {
    // Version 0 is usually a copy of the last one; as text, numbers are in order if they have the same number of digits.
    const [current, ...others] = new Set(sorts.filter((_, at) => Number(versions[at]) === 0));
    if (current !== undefined && others.length === 0) return { names: [partition], current };
    if (new Set(versions.map((version) => version.length)).size === 1) return { names: [partition], newest: sort };
  }
  const [newest] = timesOf(items);
  const places = new Map(items.map((item, at) => [sorts[at], positionOf(item)]));
  // Copies of one place, under random or numbered partition keys.
  const areCopies = items.every((item, at) => places.get(sorts[at]) === positionOf(item));
  if (!isUnique(sorts) && areCopies && newest !== undefined) return { names: [sort], newest };
  const isId = ID.test(plainName(sort)) || items.every((item) => isBucket(item, partition));
  return { names: isUnique(sorts) && isId ? [sort] : [partition, sort] };
}

/** Sampled items of a table, and the attribute by which kinds of them differ. */
interface Sample {
  readonly table: SampledTable;
  readonly items: readonly Item[];
  readonly type: string | undefined;
}

interface Kind {
  readonly kind: string;
  readonly items: readonly Item[];
}

/** The mapping of a kind; none if its items have no position. */
function proposalOf({ table, items: all, type }: Sample, { kind, items }: Kind): Proposal[] {
  const inLists = proposePosition(items) ? undefined : proposeEntries(items);
  const found = inLists ?? proposePosition(items);
  if (found === undefined) return [];
  const { position } = found;
  const each = inLists && writePath(inLists.each);
  const templates = templatesOf(items, table.key);
  const draft = readMapping({ table: table.name, items: templates, each, position });
  const place = (item: Item) => JSON.stringify(readPosition(draft.position, item));
  const { names, newest, current, group = [] } = identityOf(items, table.key, templates, place);
  // Only one item can have entries.
  if (each !== undefined && newest !== undefined) return [];
  const own = new Set(items);
  const others = all.filter((item) => !own.has(item));
  const areToldByKey = others.every((item) => itemParts(draft.items ?? {}, item) === undefined);
  // Without others, templates are of use if they tell the rest of the primary key.
  const isRest = newest === undefined && names.length < table.key.length && names[0] === table.key[0]?.name;
  const values = type === undefined ? [] : items.map((item) => item[type]).filter((one) => typeof one === 'string');
  const [only, ...more] = new Set(values);
  const isTyped = type !== undefined && only !== undefined && !areToldByKey;
  const where = isTyped ? [{ path: pathOf(type), ...(more.length > 0 ? { in: [only, ...more] } : { eq: only }) }] : [];
  const isNowhere = (separator: string) =>
    all.every((item) => table.key.every(({ name }) => !textAt(item, name).includes(separator)));
  const [name, ttl, tests] = [inLists?.name ?? nameOf(items), ttlOf(items), testsOf(items)];
  const category = more.length > 0 ? type : categoryOf(items);
  const mapping: MappingJson = {
    table: table.name,
    ...((others.length > 0 ? areToldByKey : isRest) && { items: templates }),
    ...(current !== undefined && { items: { ...templates, [table.key[1]?.name ?? '']: literal(current) } }),
    key: names.map(partOf).join(['/', '#', '|'].find(isNowhere) ?? '::'),
    ...(where.length + tests.length > 0 && { where: [...where, ...tests] }),
    ...(each !== undefined && { each }),
    ...(ttl !== undefined && { ttl: pathOf(ttl) }),
    position,
    ...(name && { name: writePath(name) }),
    ...(category !== undefined && { category: pathOf(category) }),
    ...(newest !== undefined && { newest: pathOf(newest) }),
  };
  const compiled = readMapping(mapping);
  const markersIn = (some: readonly Item[]) =>
    new Set(
      some.flatMap((item) => markersOf(compiled, item, 0)).flatMap((one) => (one.kind === 'marker' ? [one.key] : [])),
    );
  const [markers, foreign] = [markersIn(items).size, markersIn(others).size];
  const notes = [...found.notes];
  const isShared = (name: string) => !isUnique(items.map((item) => textAt(item, name)));
  const thing = [...Object.keys(items[0] ?? {}).filter((one) => isThing(items[0], one)), ...group].find(isShared);
  if (thing !== undefined && (newest ?? current) === undefined)
    notes.push(`Several have the same ${thing}. If they are readings, make it the key, and their time newest.`);
  for (const { path, asked, holds } of compiled.where.slice(where.length)) {
    const left = items.filter((item) => !holds(jsonOfStored(valueAt(item, path)))).length;
    if (left > 0) notes.push(`${left} of ${items.length} items are left out, as ${path.join('.')} must be ${asked}.`);
  }
  if (foreign > 0)
    notes.push(`${foreign} items of other kinds match, too, as nothing tells them apart; add a test to where.`);
  return [{ kind, items: items.length, markers, mapping, notes }];
}

/**
 * Mappings for the kinds of items that have a position, those of most markers first. Kinds that differ in nothing but
 * their type are also proposed as one. Reads at most 500 items.
 */
export function propose(table: SampledTable, sampled: readonly Item[]): Proposal[] {
  const items = sampled.slice(0, MOST_ITEMS);
  const type = typeAttribute(items, table.key);
  const shapes = new Map<string, Kind[]>();
  for (const [kind, own] of kindsOf(items, table.key, type)) {
    const shape = JSON.stringify([proposePosition(own)?.position, nameOf(own)]);
    shapes.set(shape, [...(shapes.get(shape) ?? []), { kind, items: own }]);
  }
  const partitions = ({ items: own }: Kind) => new Set(own.map((item) => textAt(item, table.key[0]?.name ?? '')));
  const kinds = [...shapes.values()].flatMap((alike) => {
    const union = {
      kind: alike.map(({ kind }) => kind || NO_KIND).join(' + '),
      items: alike.flatMap((one) => one.items),
    };
    // Kinds in one partition are different things, such as the last position of a vehicle and all of them.
    const areApart = type !== undefined || isUnique(alike.flatMap((one) => [...partitions(one)]));
    if (alike.length === 1 || !areApart) return alike;
    // If all items are alike, their type is a category.
    return union.items.length === items.length ? [union] : [union, ...alike];
  });
  return kinds.flatMap((kind) => proposalOf({ table, items, type }, kind)).toSorted((a, b) => b.markers - a.markers);
}
