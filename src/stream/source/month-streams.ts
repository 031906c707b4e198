import { everyCollection } from '../../store/collection/collections.js';
import { newCall, type Database } from '../../store/database.js';
import { followedMonths, hasStream, monthFaults, monthTable } from '../../store/table/month-tables.js';
import { describeTable } from '../../store/table/tables.js';
import type { ListedShard, StreamPort } from '../ports.js';

/** A shard of a month's table is called by the month and its own ID. */
const PARTS = /^(\d{4}-\d{2})\/(.+)$/;
/** The iterator of a shard whose table was deleted, as all readings of the month have expired. */
const AT_THE_END = '';

const MONTHLY = 'MONTHLY';

/** Whether any collection has tables of months. Consistent: their first records must not be missed. */
export async function hasMonths(database: Database): Promise<boolean> {
  for await (const collections of everyCollection(newCall(database), 'in use', { consistent: true })) {
    if (collections.some(({ readingsTable }) => readingsTable === MONTHLY)) return true;
  }
  return false;
}

async function allShards(port: StreamPort, stream: string): Promise<readonly ListedShard[]> {
  const found: ListedShard[] = [];
  for (let more = true; more;) {
    const some = await port.listShards(stream, found.at(-1)?.id);
    found.push(...some.shards);
    more = some.more;
  }
  return found;
}

/**
 * The stream of the entities table together with those of the tables of recent months, as if their shards were its own. A
 * month that is no longer followed is read to the end of its shards, which are closed when its stream is switched off.
 */
export function withMonths(database: Database, port: StreamPort): StreamPort {
  let monthly = false;
  /** Whether the first collection with tables of months will be seen among the records that are read. */
  let wouldSee = false;

  /** To ask at each listing would be a Query every few seconds of each server, for ever where there are none. */
  async function isMonthly(): Promise<boolean> {
    if (monthly || wouldSee) return monthly;
    wouldSee = true;
    try {
      monthly = await hasMonths(database);
    } catch (error) {
      wouldSee = false;
      throw error;
    }
    return monthly;
  }

  async function shardsOf(month: string): Promise<ListedShard[]> {
    const name = monthTable(database.tables, month);
    const table = await describeTable(database, name);
    if (table?.LatestStreamArn === undefined || !hasStream(table)) return [];
    if ((await monthFaults(database, name, true)).length > 0) return [];
    const named = (id: string) => `${month}/${id}`;
    return (await allShards(port, table.LatestStreamArn)).map(({ id, parent }) => {
      return { id: named(id), parent: parent === undefined ? undefined : named(parent) };
    });
  }

  return {
    ...port,
    async listShards(stream, after) {
      const own = await port.listShards(stream, after);
      if (own.more || !(await isMonthly())) return own;
      const months = await Promise.all(followedMonths(database.clock.wall()).map(shardsOf));
      return { shards: [...own.shards, ...months.flat()], more: false };
    },
    async openShard(stream, shard, start) {
      const [, month, id] = PARTS.exec(shard) ?? [];
      if (month === undefined || id === undefined) {
        // What is before the start may never be read.
        const iterator = await port.openShard(stream, shard, start);
        wouldSee = false;
        return iterator;
      }
      const table = await describeTable(database, monthTable(database.tables, month));
      if (table?.LatestStreamArn === undefined) return AT_THE_END;
      return port.openShard(table.LatestStreamArn, id, start);
    },
    async readRecords(iterator) {
      if (iterator === AT_THE_END) return { records: [], next: undefined };
      const batch = await port.readRecords(iterator);
      monthly ||= batch.records.some(({ after }) => after?.['readingsTable']?.['S'] === MONTHLY);
      return batch;
    },
  };
}
