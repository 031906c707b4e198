import type { Keyspace } from '../../keys/keyspace.js';
import { exactItemOf, wireOf } from '../../store/request/wire.js';
import { drawnOf } from '../../store/source/drawn-item.js';
import { keysOf, mappingOf, onlyItemOf, type SourceCollection } from '../../store/source/source-mapping.js';
import type { Contender } from '../../store/source/winners.js';
import type { Contention, StreamRecord, WireImage } from '../change.js';
import type { StreamPort } from '../ports.js';

type WireItem = Parameters<typeof exactItemOf>[0];

/** What a source's image is to Cellport. */
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
export function mappedImage(
  keys: Keyspace,
  collection: SourceCollection,
  image: WireImage | undefined,
  sequence = '0',
): Mapped {
  const drawn = image && drawnOf(keys, collection, exactItemOf(image as WireItem));
  if (image === undefined || drawn === undefined) return {};
  const { key, newest, item, fault } = drawn;
  const made = item && (wireOf(item)['M'] as WireImage);
  const { source } = collection;
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

/** A record of a table of others as one of Cellport's own table. */
export function mappedRecord(keys: Keyspace, collection: SourceCollection, record: StreamRecord): StreamRecord {
  const { source } = collection;
  const { sequence, at } = record;
  const before = mappedImage(keys, collection, record.before);
  const after = mappedImage(keys, collection, record.after, sequence);
  const [had, has] = [before.fault, after.fault];
  const more = Number(has !== undefined) - Number(had !== undefined);
  const fault = had === has ? undefined : { reason: has ?? '', keys: keysOf(source, record.keys), more };
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
    record.at < since() ? { ...record, ...passed } : mappedRecord(keys, collection, record);
  return {
    ...port,
    async readRecords(iterator) {
      const { records, next } = await port.readRecords(iterator);
      return { records: records.map(mapped), next };
    },
  };
}
