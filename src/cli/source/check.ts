import { PRICE_LIST } from '../../capacity/prices.js';
import { CellportError, ifRefused } from '../../errors.js';
import { entriesIn } from '../../sources/entries.js';
import { keyText, type Mapping } from '../../sources/mapping.js';
import { markersOf, type MappedItem } from '../../sources/marker.js';
import { mismatchOf } from '../../sources/mismatch.js';
import type { Item } from '../../store/database.js';
import { send } from '../../store/request/send.js';
import { describeSource, sampleItems, streamFault, type SourceTable } from '../../store/source/describe-source.js';
import { wireKey } from '../../store/source/source-markers.js';
import { openTableStream } from '../../stream/source/dynamodb.js';
import { readMappingFile } from '../json-file.js';
import { grouped, printable } from '../progress.js';
import type { CommandSession } from '../session.js';

const MOST_SHOWN = 3;
const READ_BYTES = 4_096;

export interface CheckOptions {
  /** Items to look at. */
  readonly sample?: number;
  /** In milliseconds, if the table is to be read again so often. */
  readonly every?: number;
}

/** The keys of an item, for people. */
const nameOfItem = ({ key }: SourceTable, item: Item) =>
  key.map(({ name }) => `${name} ${JSON.stringify(keyText(item[name]) ?? '')}`).join(', ');

function count(found: readonly MappedItem[], kind: MappedItem['kind']): number {
  return found.filter((each) => each.kind === kind).length;
}

/** The reasons why items are no markers, each with how many have it and an example. */
function reasonsFor(table: SourceTable, mapping: Mapping, mapped: readonly (readonly [Item, MappedItem])[]): string[] {
  const reasons = new Map<string, { count: number; readonly example: string }>();
  for (const [item, each] of mapped) {
    if (each.kind === 'marker') continue;
    const { reason, message } = each.kind === 'rejected' ? each : mismatchOf(mapping, item);
    const known = reasons.get(reason);
    if (known) known.count += 1;
    else reasons.set(reason, { count: 1, example: `${nameOfItem(table, item)}: ${message}` });
  }
  return Array.from(reasons, ([reason, { count: many, example }]) => `  ${grouped(many)} × ${reason}, e.g. ${example}`);
}

/**
 * Reads as a server will: an item by its key, and the end of the stream unless the table is read again and again. Throws
 * what DynamoDB refuses.
 */
async function tryReads(
  { database, streams, call }: CommandSession,
  { name, key }: SourceTable,
  item: Item | undefined,
  every: number | undefined,
): Promise<void> {
  if (item) await send(call, 'wireBatchGet', { RequestItems: { [name]: { Keys: [wireKey(key, item)] } } });
  if (every !== undefined) return;
  const stream = openTableStream(database, name, streams);
  const current = await stream.identify();
  const { shards } = await stream.listShards(current, undefined);
  const shard = shards.at(-1)?.id;
  if (shard === undefined) return;
  await stream.readRecords(await stream.openShard(current, shard, { type: 'newest' })).catch(
    ifRefused((error) => {
      const readers = `a shard of the stream of table ${name} has more readers than DynamoDB allows, which are two`;
      const advice = 'end one of them, or read the table again and again, with --every 1h';
      throw new CellportError('THROTTLED', `${readers}: ${advice}`, {}, { cause: error });
    }, 'THROTTLED'),
  );
}

/** Tries a mapping on a sample, and says what a fill would cost. Fails if nothing matches, or the table cannot be followed. */
export async function checkMapping(
  session: CommandSession,
  path: string,
  { sample = 500, every }: CheckOptions,
): Promise<void> {
  const { database, call } = session;
  const { mapping } = await readMappingFile(path);
  const table = await describeSource(database, mapping.table);
  const items = await sampleItems(call, table.name, sample);
  const now = database.clock.wall();
  const mapped = items.flatMap((item) => {
    const entries = entriesIn(mapping, item);
    if (entries.length === 0) return [[item, { kind: 'other' }] as const];
    return markersOf(mapping, item, now).map((one, at) => [entries[at]?.item ?? item, one] as const);
  });
  const found = mapped.map(([, one]) => one);
  const say = (line: string) => console.log(printable(line));
  const [markers, rejected, others] = [count(found, 'marker'), count(found, 'rejected'), count(found, 'other')];
  say(`${grouped(items.length)} items looked at in table ${table.name}: ${grouped(markers)} are markers,`);
  say(`${grouped(rejected)} match but have no valid key or position, ${grouped(others)} do not match or have expired`);
  const keys = new Set(found.flatMap((one) => (one.kind === 'marker' ? one.key : []))).size;
  if (keys < markers) say(`these have ${grouped(keys)} different keys: of several with the same key, one is shown`);
  for (const line of reasonsFor(table, mapping, mapped)) say(line);
  for (const each of found.filter((one) => one.kind === 'marker').slice(0, MOST_SHOWN)) {
    const { lng, lat } = each.position;
    say(`  ${each.key}: ${lng}, ${lat}${each.name === null ? '' : ` ${each.name}`}`);
  }
  const units = Math.ceil(table.bytes / READ_BYTES);
  const usd = (units * PRICE_LIST.prices.onDemandRead) / 1e6;
  say(`reading the table once takes ${grouped(units)} read units, ${usd.toFixed(2)} USD on demand`);
  const faults = [every === undefined ? streamFault(table) : undefined].filter((fault) => fault !== undefined);
  if (every !== undefined || faults.length === 0) await tryReads(session, table, items[0], every);
  if (items.length > 0 && markers === 0) faults.push('no item of the sample is a marker');
  if (faults.length > 0) throw new CellportError('BAD_USER_INPUT', faults.join('\n'), { faults });
}
