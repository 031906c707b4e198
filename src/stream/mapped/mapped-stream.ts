import type { Keyspace } from '../../keys/keyspace.js';
import type { TableKeyAttribute } from '../../model/collection.js';
import { exactItemOf, wireOf } from '../../store/request/wire.js';
import { drawnOf } from '../../store/source/drawn-item.js';
import type { SourceCollection } from '../../store/source/source-mapping.js';
import type { StreamRecord, WireImage } from '../change.js';
import type { StreamPort } from '../ports.js';

type WireItem = Parameters<typeof exactItemOf>[0];

/** What a source's image is to Cellport. */
interface Mapped {
  /** What maps draw of the marker in it, as an image of Cellport's own table; undefined if it is none. */
  readonly image?: WireImage | undefined;
  /** Why it is no marker, though it matches. */
  readonly fault?: string | undefined;
}

/** An image of a table of others in the form of Cellport's own. */
export function mappedImage(keys: Keyspace, collection: SourceCollection, image: WireImage | undefined): Mapped {
  const drawn = image && drawnOf(keys, collection, exactItemOf(image as WireItem));
  if (drawn === undefined) return {};
  return 'fault' in drawn ? drawn : { image: wireOf(drawn.item)['M'] as WireImage };
}

/** The keys of an item, as records and scans name it. */
export function keysOf({ source: { tableKey } }: SourceCollection, image: WireImage): WireImage {
  const valueIn = ({ name, type }: TableKeyAttribute) => {
    const value = image[name]?.[type];
    return { [type]: value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value };
  };
  return Object.fromEntries(tableKey.map((attribute) => [attribute.name, valueIn(attribute)]));
}

/** An item that is no marker: it stays a record, so that reading moves past it. */
const NO_KEYS: WireImage = {};

/** A record of a table of others as one of Cellport's own table. */
export function mappedRecord(keys: Keyspace, collection: SourceCollection, record: StreamRecord): StreamRecord {
  const before = mappedImage(keys, collection, record.before);
  const after = mappedImage(keys, collection, record.after);
  const { pk, sk } = after.image ?? before.image ?? NO_KEYS;
  return {
    ...record,
    keys: pk === undefined || sk === undefined ? NO_KEYS : { pk, sk },
    before: before.image,
    after: after.image,
    fault:
      (before.fault ?? after.fault) === undefined
        ? undefined
        : { reason: after.fault ?? '', keys: keysOf(collection, record.keys) },
  };
}

/** The stream of a table of others, as if its markers were in Cellport's own table. */
export function mappedStream(keys: Keyspace, collection: SourceCollection, port: StreamPort): StreamPort {
  return {
    ...port,
    async readRecords(iterator) {
      const { records, next } = await port.readRecords(iterator);
      return { records: records.map((record) => mappedRecord(keys, collection, record)), next };
    },
  };
}
