import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { StreamState } from '../../../src/store/cell/stream-state.js';
import type { PageReplacement } from '../../../src/store/page/pages.js';
import { batchesOf } from '../../../src/store/page/written-pages.js';
import { roundOf } from '../../../src/stream/pages/apply.js';
import { WrittenLog } from '../../../src/stream/pages/written-log.js';
import type { PagesPort } from '../../../src/stream/ports.js';
import { firstState } from '../../../src/stream/state.js';

const state = (batch: number, more: Partial<StreamState> = {}): StreamState => ({
  ...firstState('stream', 0),
  batch,
  ...more,
});

/** A log with what writes pages. */
function logFrom(first: StreamState, random = () => 0) {
  let now = 0;
  const clock = { now: () => now, wall: () => now, random, sleep: () => Promise.resolve() };
  const log = new WrittenLog(first, clock);
  const port = log.noting({
    write: () => Promise.reject(new Error('the answer is lost')),
  } as Partial<PagesPort> as PagesPort);
  return {
    log,
    advance: (ms: number) => (now += ms),
    write: (scope: string, begin: string, round: number) => {
      const replacement: PageReplacement = { scope, begin, seen: undefined, round, lost: undefined, pages: [] };
      return port.write([replacement]).catch(() => undefined);
    },
  };
}

const SCOPES = ['parks', 'cafés'];
const anyWrite = fc.record({
  scope: fc.constantFrom(...SCOPES),
  begin: fc.stringMatching(/^[0-9b-z]{1,7}$/),
  isSecond: fc.boolean(),
});
const anyBatch = fc.record({
  writes: fc.array(anyWrite, { maxLength: 150 }),
  afterMs: fc.integer({ min: 0, max: 20_000 }),
});

test('a state lists each page that a batch after `since` has written, by its last round, in one kilobyte', () => {
  fc.assert(
    fc.property(fc.array(anyBatch, { maxLength: 12 }), fc.nat(100), (batches, first) => {
      const { log, write, advance } = logFrom(state(first));
      const rounds = new Map<string, { batch: number; round: number }>();
      batches.forEach(({ writes, afterMs }, index) => {
        const batch = first + 1 + index;
        for (const second of [false, true]) {
          for (const { scope, begin } of writes.filter(({ isSecond }) => isSecond === second)) {
            const round = roundOf(batch, second);
            void write(scope, begin, round);
            rounds.set(`${scope} ${begin}`, { batch, round });
          }
        }
        const { written } = log.stored(state(batch));
        if (!written) throw new Error('nothing is listed');
        expect(written.to).toBe(batch);
        expect(written.batches.length).toBeLessThanOrEqual(1_000);
        const listed = batchesOf(written);
        for (const [name, last] of rounds) {
          const [scope = '', begin = ''] = name.split(' ');
          const of = listed.find(([number]) => number === last.batch);
          const scopes = [of?.[1][scope], of?.[2][scope]];
          if (last.batch <= written.since || scopes.includes(null)) continue;
          expect(scopes.map((begins) => begins?.includes(begin) === true)).toEqual([
            last.round % 2 === 0,
            last.round % 2 === 1,
          ]);
        }
        // A batch that is neither recent nor small is forgotten.
        if (afterMs < 1_000 && writes.length < 10) expect(written.since).toBeLessThan(batch);
        advance(afterMs);
      });
    }),
  );
});

test('the next owner lists on, unless a batch was incomplete or a release that knows no list came in between', async () => {
  const { log, write } = logFrom(state(6));
  await write('parks', 'u3', roundOf(7, false));
  const written = log.stored(state(7)).written ?? null;
  const listedBy = (first: StreamState) => {
    const { since, batches } = logFrom(first).log.stored(first).written ?? {};
    return { since, batches };
  };
  expect(listedBy(state(7, { written }))).toEqual({ since: 6, batches: '[[7,{"parks":["u3"]},{}]]' });
  expect(listedBy(state(8, { written, plan: {} }))).toEqual({ since: 8, batches: '[]' });
  expect(listedBy(state(9, { written }))).toEqual({ since: 9, batches: '[]' });
});

test('while many pages of one collection are written, what other collections have written stays listed', async () => {
  const { log, write } = logFrom(state(6));
  for (const batch of [7, 8, 9, 10]) {
    for (let page = 0; page < 100; page++) await write('parks', `u${batch}${page}`, roundOf(batch, false));
    await write('cafés', 'u3', roundOf(batch, false));
    log.stored(state(batch - 1, { batch, plan: {} }));
  }
  const { written } = log.stored(state(10));
  expect(written?.since).toBe(6);
  const of = written ? batchesOf(written).map(([, { parks, cafés }]) => ({ parks: parks?.length, cafés })) : [];
  const names = (parks?: number) => ({ parks, cafés: ['u3'] });
  // Most servers need to know only what is newest.
  expect(of).toEqual([names(), names(), names(), names(100)]);
});

test('a batch of 5,000 collections is not listed, and the next one is', async () => {
  const { log, write } = logFrom(state(6));
  for (let n = 0; n < 5_000; n++) await write(`c${n}`, 'u', roundOf(7, false));
  expect(log.stored(state(7)).written).toEqual({ since: 7, to: 7, batches: '[]' });
  await write('parks', 'u3', roundOf(8, false));
  expect(log.stored(state(8)).written).toEqual({ since: 7, to: 8, batches: '[[8,{"parks":["u3"]},{}]]' });
});

test('a page that is only cut is listed in the round to which it is then brought', async () => {
  const { log, write } = logFrom(state(6));
  await write('parks', 'u3', roundOf(7, false) - 0.5);
  await write('parks', 'u4', roundOf(7, true) - 0.5);
  expect(log.stored(state(7)).written?.batches).toBe('[[7,{"parks":["u3"]},{"parks":["u4"]}]]');
});
