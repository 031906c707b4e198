import { expect, test } from 'vitest';

import { documentOf } from '../../src/search/document.js';
import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import type { SearchEngine } from '../../src/search/engine.js';
import { IndexFollower, type SearchTables } from '../../src/search/follow.js';
import { openSearchTables } from '../../src/search/tables.js';
import { inBackground } from '../../src/server/background.js';
import { newCall, type Item } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { until } from '../live/support.js';
import { streamParts } from '../stream/support.js';
import { variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-26T10:00:00.000Z';
const MARKERS = 20;
const PAGE = 4;

const db = await testDatabase('readable', { stream: true });
const tables = openSearchTables(db, 'cells');
const collection = await testCollection(db, { key: 'hills', name: 'Hills' }, NOW);
for (let n = 0; n < MARKERS; n++) {
  const marker = { key: `h${n}`, name: `Hill ${n}`, position: { lng: n, lat: 1 }, properties: {} };
  await createMarker(newCall(db), collection, marker, NOW);
}

const keyOf = ({ pk, sk }: Item) => ({ pk: String(pk), sk: String(sk) });

/** Reads the table in short pages. */
const readPage: SearchTables['readItems'] = async (after) => {
  const { items } = await tables.readItems(after);
  const some = items.slice(0, PAGE);
  const last = some.at(-1);
  return { items: some, next: last && items.length > PAGE ? keyOf(last) : null };
};

interface Steps {
  /** Called before each read of a page and each write of one, with the number of earlier ones of its kind. */
  readonly beforeRead?: (reads: number) => Promise<void>;
  readonly beforeWrite?: (writes: number) => Promise<void>;
}

const folder = temporaryFolder();
let builds = 0;

/**
 * Builds an index. `reads` has where each read of a page began; `written` the keys of each stored page, and
 * after them those of the stream.
 */
async function build({ beforeRead, beforeWrite }: Steps) {
  const index = await openEmbeddedEngine({ folder, table: `t${builds++}`, maxBytes: 2 ** 26 }, () => Date.now());
  const reads: string[] = [];
  const written: string[][] = [];
  let writes = 0;
  const engine: SearchEngine = {
    ...index,
    async write(changes, checkpoint) {
      if (changes.length > 0) await beforeWrite?.(writes++);
      await index.write(changes, checkpoint);
      const keys = changes.map((change) => (change.type === 'put' ? change.document.key.pk : 'removed'));
      if (keys.length > 0) written.push(keys);
    },
  };
  const readItems: SearchTables['readItems'] = async (after) => {
    const count = reads.push(after?.pk ?? 'start') - 1;
    await beforeRead?.(count);
    return readPage(after);
  };
  const follower = new IndexFollower({
    ...streamParts(db),
    turn: db.scheduler.takeTurn,
    engine,
    tables: { ...tables, readItems },
  });
  const running = inBackground((signal) => follower.run(signal));
  return {
    reads,
    written,
    isBuilt: () => follower.status.state === 'following',
    async stop() {
      await running.stop();
      await index.close();
    },
  };
}

/** The keys of all markers and collections, in the order of the table, and where its pages begin. */
async function inTable() {
  const starts: string[] = [];
  const keys: string[] = [];
  for (let after: Parameters<typeof readPage>[0] = null, more = true; more;) {
    starts.push(after?.pk ?? 'start');
    const { items, next } = await readPage(after);
    keys.push(...items.flatMap((item) => documentOf(db.keys, item, new Map())?.key.pk ?? []));
    after = next;
    more = next !== null;
  }
  return { keys, starts };
}

test('a build reads one page ahead of the one that it writes, and no further, in the order of the table', async () => {
  const { keys, starts } = await inTable();
  expect(starts.length).toBeGreaterThanOrEqual(5);
  let most = 0;
  const built = await build({
    // Ends only once the next page is being read.
    async beforeWrite(writes) {
      await until(() => built.reads.length >= Math.min(writes + 2, starts.length));
      most = Math.max(most, built.reads.length - writes);
    },
  });
  await until(() => built.isBuilt());
  await built.stop();
  expect(built.written.flat().slice(0, keys.length)).toEqual(keys);
  expect(built.reads).toEqual(starts);
  expect(most).toBe(2);
});

const failing = [
  ['a read', 2, -1],
  ['a write', -1, 1],
  ['a write and the read ahead of it', 2, 1],
] as const;
test.each(variants(failing))(
  'a build in which %s fails goes on after the last page that was stored',
  async (_, failedRead, failedWrite) => {
    const { keys, starts } = await inTable();
    const built = await build({
      beforeRead: (reads) => (reads === failedRead ? Promise.reject(new Error('no read')) : Promise.resolve()),
      async beforeWrite(writes) {
        await until(() => built.reads.length >= Math.min(writes + 2, starts.length));
        if (writes === failedWrite) throw new Error('no write');
      },
    });
    await until(() => built.isBuilt());
    await built.stop();
    expect(built.written.flat().slice(0, keys.length)).toEqual(keys);
    // The failed page, or the one read ahead of it, is all that is read twice.
    const again = failedWrite < 0 ? starts.slice(2) : starts.slice(1);
    expect(built.reads).toEqual([...starts.slice(0, 3), ...again]);
  },
);

test('a build that is stopped in the middle of a read ends with it, and neither stores its page nor reads another', async () => {
  let goOn = () => {};
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const built = await build({ beforeRead: (reads) => (reads === 2 ? waiting : Promise.resolve()) });
  await until(() => built.reads.length === 3 && built.written.length === 2);
  const stopped = built.stop();
  goOn();
  await stopped;
  expect(built.written.length).toBe(2);
  expect(built.reads.length).toBe(3);
});
