import { GEOHASH_ALPHABET } from '../geo/geohash.js';
import type { StreamState } from '../store/cell/stream-state.js';
import { newCall, type Database } from '../store/database.js';
import { decodePage } from '../store/page/page-data.js';
import { pagesFrom, UnknownPageFormat } from '../store/page/pages.js';
import { wireOf } from '../store/request/wire.js';
import type { SourceCollection } from '../store/source/source-mapping.js';
import { readWinners } from '../store/source/winners.js';
import type { StreamRecord, WireImage } from '../stream/change.js';
import type { StreamPort } from '../stream/ports.js';
import { StreamReplaced } from '../stream/source/record-batches.js';
import type { SearchTables } from './follow.js';
import { SourceProgress } from './source-progress.js';

export interface SourceIndexOptions {
  readonly database: Database;
  readonly collection: SourceCollection;
  /** The stream of the source, mapped. */
  readonly stream: StreamPort;
  /** Loads the state of the source's consumer. */
  readonly load: () => Promise<StreamState | undefined>;
  readonly signal: AbortSignal;
}

const PAGES_A_RESPONSE = 100;
const PARTITIONS = Array.from(GEOHASH_ALPHABET);

/** The name of a table's stream, without the generation of pages that it was followed with. */
const streamIn = (name: string) => name.slice(0, name.lastIndexOf(' '));

/**
 * What an index reads of a source: its pages, and its stream from where these are complete. The name of the stream ends
 * with their generation, since another one may differ from what was followed until then. Pages have no places, so those
 * in the stream are left out.
 */
export function openSourceIndex({ database, collection, stream, load, signal }: SourceIndexOptions) {
  const { clock, keys } = database;
  const scope = keys.scope(collection);
  const consumer = new SourceProgress(load, clock, signal);

  /** The records of markers. Which of several items is the marker, the consumer decides. */
  async function decided(shard: string, records: readonly StreamRecord[]): Promise<readonly StreamRecord[]> {
    if (records.every(({ contentions }) => contentions === undefined)) return records;
    await consumer.applied(shard);
    const contended = [...new Set(records.flatMap(({ contentions = [] }) => contentions.map(({ key }) => key)))];
    const winners = await readWinners(newCall(database, signal), scope, contended, { consistent: true });
    const images = new Map(contended.map((key, at) => [key, winners[at]?.ranking.best[0]?.image]));
    const recordOf = (record: StreamRecord, key: string): StreamRecord => {
      const after = (JSON.parse(images.get(key) ?? 'null') as WireImage | null) ?? undefined;
      return { ...record, keys: wireOf(keys.marker(scope, key))['M'] as WireImage, before: undefined, after };
    };
    return records.flatMap((record) => record.contentions?.map(({ key }) => recordOf(record, key)) ?? record);
  }

  const tables: SearchTables = {
    async readItems(after) {
      // Otherwise a page might bring back what the index has already followed out of it.
      await consumer.appliedAll();
      const begun = await consumer.filled();
      const begin = after?.sk ?? PARTITIONS[0] ?? '';
      const pages = await pagesFrom(newCall(database, signal), { scope, ...begun }, begin, PAGES_A_RESPONSE);
      // Pages are deleted once others have replaced them.
      const { name } = await consumer.filled();
      if (name !== begun.name) throw new StreamReplaced(begun.name, name);
      const items = pages.flatMap(({ data }) => {
        const entries = decodePage(data, collection.key);
        if (entries === undefined) throw new UnknownPageFormat();
        return entries.map(({ marker: { key, position, mapProperties, ...drawn } }) => {
          return { ...drawn, ...keys.marker(scope, key), ...position, m: mapProperties };
        });
      });
      const next = pages.at(-1)?.end ?? PARTITIONS[PARTITIONS.indexOf(begin.charAt(0)) + 1];
      return { items, next: next === undefined ? null : { pk: scope, sk: next } };
    },
    listCollections: () => Promise.resolve([collection]),
    async consumed() {
      const { state, name } = await consumer.filled();
      return { ...state, stream: name };
    },
  };
  const followed: StreamPort = {
    identify: async () => (await consumer.filled()).name,
    listShards: (name, after) => stream.listShards(streamIn(name), after),
    async openShard(name, shard, start) {
      if (start.type === 'after') consumer.noteStart(shard, start.sequence);
      return `${shard} ${await stream.openShard(streamIn(name), shard, start)}`;
    },
    async readRecords(iterator) {
      const at = iterator.indexOf(' ');
      const shard = iterator.slice(0, at);
      const { records, next, ...batch } = await stream.readRecords(iterator.slice(at + 1));
      consumer.noteRead(shard, records);
      const read = await decided(shard, records);
      if (next === undefined) await consumer.ended(shard);
      return {
        ...batch,
        records: read.map((record) => ({ ...record, after: record.after && { ...record.after, place: undefined } })),
        next: next === undefined ? undefined : `${shard} ${next}`,
      };
    },
  };
  return { tables, stream: followed };
}
