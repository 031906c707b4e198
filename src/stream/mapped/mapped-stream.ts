import type { Keyspace } from '../../keys/keyspace.js';
import type { CollectionSource } from '../../model/collection.js';
import { pathText } from '../../sources/mapping.js';
import { attributesOf, wireOf } from '../../store/request/wire.js';
import { drawnIn, type Drawn } from '../../store/source/drawn-item.js';
import {
  attributesRead,
  keysOf,
  mappingOf,
  onlyItemOf,
  type SourceCollection,
} from '../../store/source/source-mapping.js';
import type { Contender } from '../../store/source/winners.js';
import type { Contention, StreamRecord, WireImage } from '../change.js';
import type { StreamPort } from '../ports.js';

type WireItem = Parameters<typeof attributesOf>[0];

/** What an entry of a source's image is to Cellport. */
interface Mapped {
  readonly key?: string | undefined;
  /** What maps draw of the marker in it, as an image of Cellport's own table; undefined if it is none. */
  readonly image?: WireImage | undefined;
  /** Why it is no marker, though it matches. */
  readonly fault?: string | undefined;
  /** The item as one of several that may be the marker with the key; undefined if it is the only one. */
  readonly contender?: Contender | undefined;
}

/**
 * An image of a table of others in the form of Cellport's own. Where its mapping orders items by nothing else, they are
 * in the order of their records; `sequence` is that of the image's.
 */
export function mappedImages(
  keys: Keyspace,
  collection: SourceCollection,
  image: WireImage | undefined,
  sequence = '0',
): readonly Mapped[] {
  if (image === undefined) return [];
  const entries = drawnIn(keys, collection, attributesOf(image as WireItem, attributesRead(collection.source), true));
  return entries.map((drawn) => mappedEntry(collection, image, drawn, sequence));
}

function mappedEntry(
  { source }: SourceCollection,
  image: WireImage,
  { key, newest, item, fault }: Drawn,
  sequence: string,
): Mapped {
  const made = item && (wireOf(item)['M'] as WireImage);
  if (key === undefined || onlyItemOf(source, key) !== undefined) return { key, image: made, fault };
  const contender = {
    item: JSON.stringify(keysOf(source, image)),
    order: mappingOf(source).newest === undefined ? BigInt(sequence) : newest,
    image: made && JSON.stringify(made),
  };
  return { key, image: made, fault, contender };
}

/** An item that is no marker, or one of several that may be it: it stays a record, so that reading moves past it. */
const NO_KEYS: WireImage = {};

/** The keys by which a rejected item is listed, or one of its entries. */
export function rejectedKeys(source: CollectionSource, image: WireImage, index: number): WireImage {
  const { each } = mappingOf(source);
  return { ...keysOf(source, image), ...(each && { [pathText(each)]: { N: String(index) } }) };
}

/** A record of a table of others as those of Cellport's own table, one for each entry of its item, all with its sequence number. */
function mappedRecords(keys: Keyspace, collection: SourceCollection, record: StreamRecord): readonly StreamRecord[] {
  const before = mappedImages(keys, collection, record.before);
  const after = mappedImages(keys, collection, record.after, record.sequence);
  const count = Math.max(1, before.length, after.length);
  return Array.from({ length: count }, (_, index) =>
    entryRecord(collection.source, record, index, before[index] ?? {}, after[index] ?? {}),
  );
}

function entryRecord(
  source: CollectionSource,
  record: StreamRecord,
  index: number,
  before: Mapped,
  after: Mapped,
): StreamRecord {
  const { sequence, at } = record;
  const [had, has] = [before.fault, after.fault];
  const more = Number(has !== undefined) - Number(had !== undefined);
  const fault = had === has ? undefined : { reason: has ?? '', keys: rejectedKeys(source, record.keys, index), more };
  const [was, is] = [before.contender, after.contender];
  if (was === undefined && is === undefined) {
    const { pk, sk } = after.image ?? before.image ?? NO_KEYS;
    const named = pk === undefined || sk === undefined ? NO_KEYS : { pk, sk };
    return { ...record, keys: named, before: before.image, after: after.image, fault };
  }
  const item = (is ?? was)?.item ?? '';
  // If it has another key now, it leaves one and joins another.
  const contended = new Set([was && before.key, is && after.key].filter((key) => key !== undefined));
  const contentions = Array.from(contended, (key): Contention => {
    return {
      sequence,
      at,
      key,
      item,
      before: before.key === key ? was : undefined,
      after: after.key === key ? is : undefined,
    };
  });
  return { ...record, keys: NO_KEYS, before: undefined, after: undefined, fault, contentions };
}

/**
 * The stream of a table of others, as if its markers were in Cellport's own table. Of records from before `since`, in
 * milliseconds since 1970, only the position counts.
 */
export function mappedStream(
  keys: Keyspace,
  collection: SourceCollection,
  port: StreamPort,
  since: () => number,
): StreamPort {
  const passed = { keys: NO_KEYS, before: undefined, after: undefined };
  const mapped = (record: StreamRecord) =>
    record.at < since() ? { ...record, ...passed } : mappedRecords(keys, collection, record);
  return {
    ...port,
    async readRecords(iterator) {
      const batch = await port.readRecords(iterator);
      return { ...batch, records: batch.records.flatMap(mapped) };
    },
  };
}
