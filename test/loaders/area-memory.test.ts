import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { AreaMemory, ChangeLog } from '../../src/loaders/area-memory.js';
import { createServices } from '../../src/server/services.js';
import { memoryDatabase } from '../support/memory-store.js';

const area = { scope: 'parks', ranges: [{ from: 100, to: 200 }] };
const value = { text: 'tile' };

function memory({ maxBytes = 1e6, trusted = true } = {}) {
  const clock = { now: 10_000, trusted };
  const changes = new ChangeLog(() => clock.now);
  const made = new AreaMemory<object>({ maxBytes, bytesOf: () => 1_000, changes, trusted: () => clock.trusted });
  const put = (name = 'tile') => made.put(name, value, area, made.moment());
  return { clock, changes, made, put };
}

/** Reads may lag by two seconds behind a change that was just noted. */
function expectKeptAfterLag({ clock, made, put }: Pick<ReturnType<typeof memory>, 'clock' | 'made' | 'put'>): void {
  clock.now += 1_999;
  put();
  expect(made.get('tile')).toBeUndefined();
  clock.now += 1;
  put();
  expect(made.get('tile')).toBeDefined();
}

test('a value is kept until something changes in its area', () => {
  const { changes, made, put } = memory();
  put();
  changes.changed('parks', [{ from: 200, to: 300 }]);
  changes.changed('cities', [{ from: 100, to: 200 }]);
  expect(made.get('tile')).toBeDefined();
  changes.changed('parks', [{ from: 0, to: 50 }, { from: 199, to: 200 }]); // prettier-ignore
  expect(made.get('tile')).toBeUndefined();
});

test('a value is not kept if its area has changed while it was made, or too shortly before for lagging reads', () => {
  const { clock, changes, made, put } = memory();
  const since = made.moment();
  changes.changed('parks', [{ from: 150, to: 151 }]);
  made.put('tile', value, area, since);
  expect(made.get('tile')).toBeUndefined();
  expectKeptAfterLag({ clock, made, put });
});

test('a value is used only while changes are followed', () => {
  const { clock, made, put } = memory();
  put();
  clock.trusted = false;
  expect(made.get('tile')).toBeUndefined();
  clock.trusted = true;
  expect(made.get('tile')).toBe(value);
});

test('what was kept before changes may have been missed, or were forgotten, is not used', () => {
  const { changes, made, put } = memory();
  const since = made.moment();
  put();
  changes.clear();
  expect(made.get('tile')).toBeUndefined();
  made.put('tile', value, area, since);
  expect(made.get('tile')).toBeUndefined();
  put();
  expect(made.get('tile')).toBeDefined();
  for (let n = 0; n < 10_001; n++) changes.changed('cities', [{ from: 500, to: 501 }]);
  expect(made.get('tile')).toBeUndefined();
});

test('values that were looked at stay kept however much changes elsewhere', () => {
  const { changes, made, put } = memory();
  put();
  for (let n = 0; n < 30_000; n++) {
    changes.changed('parks', [{ from: 500, to: 501 }]);
    if (n % 1_000 === 0) made.get('tile');
  }
  expect(made.get('tile')).toBeDefined();
});

test('the memory is bounded in bytes, and off at 0', () => {
  const { made, put } = memory({ maxBytes: 20_000 });
  for (let n = 0; n < 1_000; n++) put(`tile ${n}`);
  const kept = Array.from({ length: 1_000 }, (_, n) => made.get(`tile ${n}`)).filter((one) => one !== undefined);
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThanOrEqual(20);
  const off = memory({ maxBytes: 0 });
  off.put();
  expect(off.made.get('tile')).toBeUndefined();
});

test('a server keeps answers while its consumer keeps up, and pages lack nothing that is published', async () => {
  const status = { owner: true, behindMs: 0, countsExact: true, endAt: 1_000, pages: { generation: '1' } };
  let now: object = status;
  const { answers, keptClusters } = createServices(memoryDatabase(), { consumerStatus: () => now as typeof status });
  const body = Buffer.from('tile');
  const answer = { body, encoded: new Map(), hash: '', count: 1, expiresAt: Infinity };
  answers.put('tile', answer, area, answers.moment());
  const isUsed = async (state: object) => {
    now = { ...status, ...state };
    await nextTurn();
    return answers.get('tile') !== undefined;
  };
  expect(await isUsed({})).toBe(true);
  expect(await isUsed({ behindMs: 3_000 })).toBe(false);
  expect(await isUsed({ owner: false })).toBe(false);
  expect(await isUsed({ published: { from: 1, to: 1, endAt: 1_001 } })).toBe(false);
  expect(await isUsed({ published: { from: 1, to: 1, endAt: 1_000 } })).toBe(true);
  // Nobody notes that a marker was renamed: counts stay the same, and no page is written.
  expect(await isUsed({ pages: null })).toBe(false);
  expect(keptClusters.keeps(area.scope)).toBe(true);
});

test('a batch that changes more areas than are remembered has changed all of them, also for reads that lag', () => {
  const { clock, changes, made, put } = memory();
  put();
  const since = made.moment();
  const ranges = Array.from({ length: 60_000 }, (_, n) => ({ from: 1_000 + n, to: 1_001 + n }));
  changes.changed('parks', ranges);
  expect(made.get('tile')).toBeUndefined();
  made.put('tile', value, area, since);
  expectKeptAfterLag({ clock, made, put });
});
