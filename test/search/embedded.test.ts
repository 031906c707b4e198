import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import Libsql from 'libsql';
import { expect, test } from 'vitest';

import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import { isDamaged } from '../../src/search/embedded/open.js';
import { rankBits } from '../../src/search/embedded/write.js';
import { IndexFault, IndexFull, type SearchQuery } from '../../src/search/engine.js';
import { editsAllowed, editsBetween } from '../../src/search/typos.js';
import { rounds } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { describeEngine } from './contract.js';
import { documentOf } from './documents.js';

const folder = temporaryFolder();
const EVERYTHING: SearchQuery = { words: [], scopes: undefined, area: undefined, near: undefined };

let tables = 0;
const open = (table: string, maxBytes = 64 * 1024 * 1024) =>
  openEmbeddedEngine({ folder, table, maxBytes }, () => 1_000);
describeEngine('embedded', () => open(`contract${(tables += 1)}`));

test('nothing that is done with an index in a file holds up the event loop', async () => {
  const own = await open('threads');
  const query = { ...EVERYTHING, words: ['a'] };
  const calls = {
    write: () => own.write([{ type: 'put', document: documentOf('a') }], 'one'),
    checkpoint: () => own.checkpoint(),
    count: () => own.count(query),
    search: () => own.search(query, { after: undefined, limit: 5 }),
    clear: () => own.clear(),
  };
  for (const [name, call] of Object.entries(calls)) {
    let rounds = 0;
    let next = setImmediate(function again() {
      rounds += 1;
      next = setImmediate(again);
    });
    await call();
    clearImmediate(next);
    // What SQLite did in this thread was done before the loop went round.
    expect([name, rounds > 0]).toEqual([name, true]);
  }
  await own.close();
});

test('an index whose thread has ended refuses calls', async () => {
  const own = await open('ended');
  await own.close();
  await expect(own.count(EVERYTHING)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(own.write([], 'late')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('two servers in one folder have separate indexes', async () => {
  const one = await open('both');
  const two = await open('both');
  await one.write([{ type: 'put', document: documentOf('a') }], 'one');
  expect(await two.count(EVERYTHING)).toBe(0);
  await one.close();
  await two.close();
  const again = await open('both');
  expect(await again.checkpoint()).toBe('one');
  await again.close();
});

test('an index that is damaged or has another layout is rebuilt', async () => {
  const first = await open('damaged');
  await first.write([{ type: 'put', document: documentOf('a') }], 'one');
  await first.close();
  for (const file of readdirSync(folder)) {
    if (file.startsWith('damaged') && !file.endsWith('.lock'))
      writeFileSync(join(folder, file), 'no database'.repeat(1_000));
  }
  const second = await open('damaged');
  expect(await second.checkpoint()).toBeUndefined();
  await second.write([{ type: 'put', document: documentOf('a') }], 'two');
  expect(await second.count(EVERYTHING)).toBe(1);
  await second.close();
});

test('an index that is damaged while it is open says so, whereupon a server replaces it', async () => {
  const own = await open('spoilt');
  await own.write(
    Array.from({ length: 200 }, (_, at) => ({ type: 'put' as const, document: documentOf(`a${at}`) })),
    'one',
  );
  const path = join(folder, 'spoilt-1.search');
  const database = new Libsql(path);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const file = openSync(path, 'r+');
  writeSync(file, randomBytes(statSync(path).size - 4_096), 0, undefined, 4_096);
  closeSync(file);
  const fault: unknown = await own
    .search({ ...EVERYTHING, words: ['a1'] }, { after: undefined, limit: 5 })
    .catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(IndexFault);
  const { cause } = fault as IndexFault;
  expect([isDamaged(cause), (cause as Error).message]).toEqual([true, expect.stringMatching(/malformed/)]);
  await own.close().catch(() => undefined);
});

test('ids of documents that are gone are used again', async () => {
  const own = await open('churned');
  await own.write([{ type: 'put', document: documentOf('a') }], 'one');
  const file = new Libsql(join(folder, 'churned-1.search'));
  // As after 2^23 documents, of which one is left.
  file.exec(`UPDATE docs SET id = ${2 ** 53 - 1}`);
  file.close();
  await own.write([{ type: 'put', document: documentOf('b') }], 'two');
  expect(await own.count(EVERYTHING)).toBe(2);
  await own.close();
});

test('an index that reaches its limit reports it, and keeps its documents', async () => {
  const own = await open('full', 400_000);
  let written = 0;
  const fill = async () => {
    for (;;) {
      const documents = Array.from({ length: 100 }, (_, index) =>
        documentOf(`${written}-${index}`, { rest: 'some more words '.repeat(9) }),
      );
      await own.write(
        documents.map((document) => ({ type: 'put', document })),
        String(written),
      );
      written += 1;
    }
  };
  await expect(fill()).rejects.toBeInstanceOf(IndexFull);
  expect(await own.count(EVERYTHING)).toBe(written * 100);
  expect(await own.checkpoint()).toBe(String(written - 1));
  await own.close();
});

test('an index whose writer is killed has exactly the documents of its checkpoint', async () => {
  for (let round = 0; round < rounds('killsOfWriter'); round += 1) {
    const worker = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'writer.ts'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(worker, 'exit');
    await Promise.race([
      once(worker.stdout, 'data'),
      exited.then(([code]) => Promise.reject(new Error(`exit ${code}`))),
    ]);
    await sleep(20 + round * 130);
    worker.kill('SIGKILL');
    await exited;
    const own = await open('killed');
    const batches = Number(await own.checkpoint());
    expect(batches).toBeGreaterThan(0);
    expect(await own.count(EVERYTHING)).toBe(batches * 50);
    await own.close();
  }
});

test('opening an index waits for another process that holds its file', async () => {
  const holder = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     const file = new (require('libsql'))(workerData);
     file.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA application_id = 1');
     parentPort.postMessage('held');
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);`,
    { eval: true, workerData: join(folder, 'held-1.search') },
  );
  await once(holder, 'message');
  const own = await open('held');
  expect(await own.count(EVERYTHING)).toBe(0);
  await own.close();
  await holder.terminate();
});

test('ranks keep their order, and documents without a rank come last', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true }), fc.float({ noNaN: true }), (a, b) => {
      if (a < b) expect(rankBits(a)).toBeGreaterThanOrEqual(rankBits(b));
      expect(rankBits(a)).toBeLessThanOrEqual(rankBits(undefined));
    }),
  );
  expect(rankBits(1_000_001)).toBeLessThan(rankBits(1_000_000));
  expect(rankBits(-1)).toBeGreaterThan(rankBits(0));
});

/** All texts that are one edit away: the definition of a distance of one. */
function* oneEditFrom(text: string, letters: string): Generator<string> {
  for (let at = 0; at <= text.length; at += 1) {
    const [before, after] = [text.slice(0, at), text.slice(at)];
    for (const letter of letters) yield before + letter + after;
    if (after === '') continue;
    yield before + after.slice(1);
    for (const letter of letters) yield before + letter + after.slice(1);
    if (after.length > 1) yield before + after.charAt(1) + after.charAt(0) + after.slice(2);
  }
}

test('a text is one edit from the beginning of a name exactly if an edit turns it into one', () => {
  const text = fc.stringMatching(/^[ab]{3,5}$/);
  fc.assert(
    fc.property(text, fc.stringMatching(/^[ab]{1,7}( [ab]{1,7})?$/), (typed, name) => {
      const starts = [name, ...(name.includes(' ') ? [name.slice(name.indexOf(' ') + 1)] : [])];
      const begins = (candidate: string) => starts.some((start) => start.startsWith(candidate));
      const edits = begins(typed) ? 0 : [...oneEditFrom(typed, 'ab ')].some(begins) ? 1 : Infinity;
      expect(editsBetween(typed, name)).toBe(edits);
    }),
    { numRuns: 2_000 },
  );
  expect(editsAllowed(2)).toBe(0);
});
