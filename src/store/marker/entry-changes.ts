import { INDEXES, type GeoIndexName } from '../../keys/indexes.js';
import type { Item } from '../database.js';
import { DRAWN_ATTRIBUTES } from '../table/table-definitions.js';
import { attributesOf } from '../request/wire.js';

/** What a write did to one entry of a geo index. */
export interface EntryChange {
  readonly index: GeoIndexName;
  readonly pk: string;
  readonly sortKey: string;
  /** Of the entry as it is now, or as it was before it was removed; 0 if it has none. */
  readonly mapVersion: number;
  /** The entry as a Query would return it; undefined if it was removed. */
  readonly entry: (() => Item) | undefined;
}

/** How to read an item, in either of its formats. */
interface Reading<T> {
  readonly text: (item: T, attribute: string) => string | undefined;
  readonly version: (item: T) => number;
  readonly entry: (item: T) => Item;
}

/** An image of an item in a record of the stream, in wire format. */
type Image = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

const NAMES = ['pk', 'sk', ...DRAWN_ATTRIBUTES];

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
const numberOf = (value: unknown) => (Number.isFinite(Number(value)) ? Number(value) : 0);

const OF_IMAGE: Reading<Image> = {
  text: (image, attribute) => textOf(image[attribute]?.['S']),
  version: (image) => numberOf(image['mv']?.['N']),
  entry: (image) => attributesOf(image, NAMES),
};

const OF_ITEM: Reading<Item> = {
  text: (item, attribute) => textOf(item[attribute]),
  version: (item) => numberOf(item['mv']),
  entry: (item) => item,
};

function changesOf<T>(before: T | undefined, after: T | undefined, { text, version, entry }: Reading<T>) {
  return (['geoA', 'geoB'] as const).flatMap((index) => {
    const placeOf = (item: T | undefined) => {
      const pk = item && text(item, INDEXES[index].pk);
      const sortKey = item && text(item, INDEXES[index].sk);
      return pk === undefined || sortKey === undefined ? undefined : { pk, sortKey };
    };
    const was = placeOf(before);
    const is = placeOf(after);
    const changes: EntryChange[] = [];
    if (before && was && (was.pk !== is?.pk || was.sortKey !== is.sortKey)) {
      changes.push({ index, ...was, mapVersion: version(before), entry: undefined });
    }
    if (after && is) changes.push({ index, ...is, mapVersion: version(after), entry: () => entry(after) });
    return changes;
  });
}

/** The changes to the geo indexes that a record of the stream reports by its images. */
export function entryChanges(before: Image | undefined, after: Image | undefined): EntryChange[] {
  return changesOf(before, after, OF_IMAGE);
}

/** The changes to the geo indexes that a write of ours made. */
export function entryChangesOfItem(before: Item | undefined, after: Item | undefined): EntryChange[] {
  return changesOf(before, after, OF_ITEM);
}
