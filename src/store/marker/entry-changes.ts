import { INDEXES, type GeoIndexName } from '../../keys/indexes.js';
import type { Item } from '../database.js';
import { DRAWN_ATTRIBUTES } from '../table/table-definitions.js';
import { attributesOf } from '../request/query-items.js';

/** What a write has done to one entry of a geo index. */
export interface EntryChange {
  readonly index: GeoIndexName;
  readonly pk: string;
  readonly sortKey: string;
  /** Of the entry as it stands now, or as it stood before it was taken away; 0 where it has none. */
  readonly mapVersion: number;
  /** The entry as a Query would give it; undefined where it was taken away. */
  readonly entry: (() => Item) | undefined;
}

/** How to read what stands in an item. */
interface Reading<T> {
  readonly text: (item: T, attribute: string) => string | undefined;
  readonly version: (item: T) => number;
  readonly entry: (item: T) => Item;
}

/** An image of an item as a record of the stream holds it. */
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

/** What a record of the stream, by its images of an item before and after, says of the geo indexes. */
export function entryChanges(before: Image | undefined, after: Image | undefined): EntryChange[] {
  return changesOf(before, after, OF_IMAGE);
}

/** What a write of our own has done to the geo indexes, by the item before and after. */
export function entryChangesOfItem(before: Item | undefined, after: Item | undefined): EntryChange[] {
  return changesOf(before, after, OF_ITEM);
}
