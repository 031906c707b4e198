import type { MarkerBytes, Sizes } from '../../capacity/advice.js';
import { compareBytes } from '../../keys/byte-order.js';
import { INDEXES } from '../../keys/indexes.js';
import { createKeyspace, type KeyStyle } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import { orderedMarker } from '../../pages/ordered-marker.js';
import { packPages } from '../../pages/pack.js';
import type { Item } from '../../store/database.js';
import { mapMarkerFromIndex, newMarkerItem, type MarkerInput } from '../../store/marker/marker-item.js';
import { PACKING } from '../../store/page/page-data.js';
import { pageBytes } from '../../store/page/pages.js';
import { itemBytes } from '../../store/request/item-size.js';
import { DRAWN_ATTRIBUTES } from '../../store/table/table-definitions.js';

/** The settings of a collection on which the size of its markers depends. */
export type SizedCollection = Pick<Collection, 'key' | 'code' | 'mapProperties' | 'globalIds' | 'prefixLength'>;

/** Stands for any code: all have the same length. */
const ANY_CODE = 'Xx';
/** Stands for any time: all have the same length. */
const ANY_TIME = '2026-11-23T00:00:00.000Z';
const { geoA } = INDEXES;
const ENTRY_ATTRIBUTES = ['pk', 'sk', geoA.pk, geoA.sk ?? '', ...DRAWN_ATTRIBUTES];

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The items of some markers in one key style. */
function itemsOf(sample: readonly MarkerInput[], sized: SizedCollection, style: KeyStyle): Item[] {
  const collection: Collection = {
    name: sized.key,
    description: null,
    rankBy: null,
    idStrategy: 'GIVEN',
    writeShards: 1,
    readingsTtlDays: null,
    readingsBucket: 'NONE',
    readingsTable: 'SHARED',
    readingsSummarized: false,
    geoIndex: true,
    geoSlot: 'A',
    version: 1,
    createdAt: ANY_TIME,
    updatedAt: ANY_TIME,
    ...sized,
    code: sized.code ?? ANY_CODE,
  };
  return sample.map((input) => newMarkerItem({ keys: createKeyspace(style) }, collection, input, ANY_TIME));
}

const bytesOf = (items: readonly Item[]): MarkerBytes => ({
  item: mean(items.map(itemBytes)),
  entry: mean(items.map((item) => itemBytes(Object.fromEntries(ENTRY_ATTRIBUTES.map((name) => [name, item[name]]))))),
});

/**
 * How full pages are, measured by packing a sample. Its markers are farther apart than those of a real page, so the
 * result is slightly too low.
 */
function pagesOf(items: readonly Item[], collection: SizedCollection): Sizes['page'] {
  const keys = createKeyspace('readable');
  const entries = items
    .flatMap((item) => mapMarkerFromIndex(keys, item, collection.key) ?? [])
    .map(orderedMarker)
    .sort((a, b) => compareBytes(a.position, b.position));
  const pages = [...packPages('', entries, PACKING)];
  return { markers: entries.length / pages.length, bytes: mean(pages.map(({ data }) => pageBytes(data))) };
}

/**
 * Mean sizes of markers in bytes, from a sample of at least one. `itemBytes` replaces the measured size of their items.
 */
export function sizesOf(sample: readonly MarkerInput[], collection: SizedCollection, given?: number): Sizes {
  const readable = itemsOf(sample, collection, 'readable');
  const replaced = ({ item, entry }: MarkerBytes): MarkerBytes =>
    given === undefined ? { item, entry } : { item: given, entry: Math.min(entry, given) };
  return {
    readable: replaced(bytesOf(readable)),
    compact: replaced(bytesOf(itemsOf(sample, collection, 'compact'))),
    page: pagesOf(readable, collection),
  };
}
