import { INDEXES, type GeoIndexName } from '../keys/indexes.js';
import type { Item } from './database.js';
import { DRAWN_ATTRIBUTES } from './table-definitions.js';
import { attributesOf } from './query-items.js';

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

/** An image of an item as a record of the stream holds it. */
type Image = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

interface Place {
  readonly pk: string;
  readonly sortKey: string;
}

function placeOf(image: Image | undefined, index: GeoIndexName): Place | undefined {
  const pk = image?.[INDEXES[index].pk]?.['S'];
  const sortKey = image?.[INDEXES[index].sk]?.['S'];
  return typeof pk === 'string' && typeof sortKey === 'string' ? { pk, sortKey } : undefined;
}

function versionOf(image: Image | undefined): number {
  const version = Number(image?.['mv']?.['N']);
  return Number.isFinite(version) ? version : 0;
}

/** What a record of the stream, by its images of an item before and after, says of the geo indexes. */
export function entryChanges(before: Image | undefined, after: Image | undefined): EntryChange[] {
  return (['geoA', 'geoB'] as const).flatMap((index) => {
    const was = placeOf(before, index);
    const is = placeOf(after, index);
    const changes: EntryChange[] = [];
    if (was && (was.pk !== is?.pk || was.sortKey !== is.sortKey)) {
      changes.push({ index, ...was, mapVersion: versionOf(before), entry: undefined });
    }
    if (is && after) {
      const names = ['pk', 'sk', ...DRAWN_ATTRIBUTES];
      changes.push({ index, ...is, mapVersion: versionOf(after), entry: () => attributesOf(after, names) });
    }
    return changes;
  });
}
