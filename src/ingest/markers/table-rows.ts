import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

import { badInput } from '../../errors.js';
import { pathText, type Mapping } from '../../sources/mapping.js';
import { compareNewest, detailsOf, markersOf, type MappedItem, type Newest } from '../../sources/marker.js';
import type { Call, Item } from '../../store/database.js';
import { retryInBackground } from '../../store/request/pacing.js';
import { send, type Operations } from '../../store/request/send.js';
import { exactItemOf, type WireMap } from '../../store/request/wire.js';
import { keepIn } from '../read/gzip.js';
import { readLines } from '../read/lines.js';
import { readAtOffsets } from '../read/read-at-offsets.js';
import { rowOffsetOf, type Invalid, type RowSource } from '../read/row.js';
import type { MarkerRow } from '../rows/marker-row.js';

/** Items per page: DynamoDB's own limit of 1 MB can take a slow engine longer than a request's deadline. */
const PAGE = 1000;

export interface TableJob {
  readonly table: string;
  readonly mapping: Mapping;
  /** For a temporary file. */
  readonly folder: string;
  readonly call: Call;
  /** Called after each page; the meter of `call` has the number of items. */
  readonly onPage: () => void;
}

/** By key, the newest of the items that are one marker, and where its line begins. */
type NewestItems = Map<string, { readonly newest: Newest; readonly start: number }>;

/** The items of a table that match, one per line in DynamoDB's JSON. Throttled reads are retried. */
async function* matchingLines(job: TableJob, newest: NewestItems, hash: Hash) {
  const { table, mapping, call, onPage } = job;
  const now = call.db.clock.wall();
  let start = 0;
  let after: Operations['wireScan']['output']['LastEvaluatedKey'];
  do {
    const request = { TableName: table, Limit: PAGE, ...(after && { ExclusiveStartKey: after }) };
    const scan = () => send(call, 'wireScan', request);
    const page: Operations['wireScan']['output'] = await retryInBackground(scan, call.signal);
    const lines: string[] = [];
    for (const item of page.Items ?? []) {
      const found = rowOf(mapping, exactItemOf(item), now);
      if (found.kind === 'other') continue;
      const line = `${JSON.stringify(item)}\n`;
      const { key } = found;
      const isNewest = key !== undefined && compareNewest(found.newest, newest.get(key)?.newest) >= 0;
      if (mapping.newest !== undefined && isNewest) newest.set(key, { newest: found.newest, start });
      start += Buffer.byteLength(line);
      lines.push(line);
    }
    const bytes = Buffer.from(lines.join(''));
    hash.update(bytes);
    yield bytes;
    onPage();
    after = page.LastEvaluatedKey;
  } while (after !== undefined);
}

/** What an item is, which gives one row at most: its mapping has no `each`. */
const rowOf = (mapping: Mapping, item: Item, now: number): MappedItem =>
  markersOf(mapping, item, now)[0] ?? { kind: 'other' };

async function* chunksOf(file: FileHandle) {
  let start = 0;
  for await (const bytes of file.createReadStream({ start, autoClose: false }) as AsyncIterable<Buffer>) {
    yield { start, bytes };
    start += bytes.length;
  }
}

/**
 * Copies the items of a table that a mapping matches to a temporary file, as rows are read twice; returns them with the
 * identity of their content. Of several items that are one marker, only the newest is a row, even if it is invalid.
 */
export async function openTable(job: TableJob): Promise<{ rows: RowSource<MarkerRow>; identity: string }> {
  const { mapping } = job;
  if (mapping.each) throw badInput('each', pathText(mapping.each), 'left out: an import makes one marker of an item');
  const newest: NewestItems = new Map();
  const hash = createHash('sha256');
  const file = await keepIn(job.folder, matchingLines(job, newest, hash));
  function read(text: string): { readonly key: string | undefined; readonly content: MarkerRow | Invalid } {
    const item = exactItemOf(JSON.parse(text) as WireMap);
    // It had not expired when it was copied.
    const found = rowOf(mapping, item, -Infinity);
    if (found.kind === 'other') throw new Error('an item of the copy does not match the mapping');
    if (found.kind === 'rejected') return { key: found.key, content: { reason: found.message } };
    const { key, position, name, category, place } = found;
    return { key, content: { key, position, name, category, place, properties: detailsOf(mapping, item).properties } };
  }
  const rows: RowSource<MarkerRow> = {
    size: (await file.stat()).size,
    async *scan() {
      for await (const lines of readLines(chunksOf(file))) {
        yield lines.flatMap(({ number: line, start, bytes }) => {
          const text = bytes.toString();
          const { key = '', content } = read(text);
          const isOlder = (newest.get(key)?.start ?? start) !== start;
          return isOlder ? [] : [{ line, ...rowOffsetOf(start, bytes), text, isJson: true, content }];
        });
      }
    },
    read: async (offsets) =>
      (await readAtOffsets(file, offsets)).map((bytes) => read(bytes.toString()).content as MarkerRow),
    close: () => file.close(),
  };
  return { rows, identity: hash.digest('hex') };
}
