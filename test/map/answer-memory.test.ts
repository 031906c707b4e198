import { expect, test } from 'vitest';

import { AnswerMemory, type KeptAnswer } from '../../src/map/tiles/memory.js';
import { createServices } from '../../src/server/services.js';
import { memoryDatabase } from '../support/memory-store.js';

const answer = (expiresAt = Infinity): KeptAnswer => ({
  body: Buffer.from('tile'),
  encoded: new Map(),
  hash: 'hash',
  count: 1,
  expiresAt,
});
const area = { scope: 'parks', ranges: [{ from: 100, to: 200 }] };

function memory({ maxBytes = 1e6, trusted = true } = {}) {
  const clock = { now: 10_000, trusted };
  const made = new AnswerMemory({
    maxBytes,
    trusted: () => clock.trusted,
    now: () => clock.now,
    wall: () => clock.now,
  });
  const put = (name = 'tile', kept = answer()) => made.put(name, kept, area, made.moment());
  return { clock, made, put };
}

test('an answer is kept until something changes in its area', () => {
  const { made, put } = memory();
  put();
  made.changed('parks', [{ from: 200, to: 300 }]);
  made.changed('cities', [{ from: 100, to: 200 }]);
  expect(made.get('tile')).toBeDefined();
  made.changed('parks', [{ from: 0, to: 50 }, { from: 199, to: 200 }]); // prettier-ignore
  expect(made.get('tile')).toBeUndefined();
});

test('an answer is not kept if its area has changed while it was made, or too shortly before for lagging reads', () => {
  const { clock, made, put } = memory();
  const since = made.moment();
  made.changed('parks', [{ from: 150, to: 151 }]);
  made.put('tile', answer(), area, since);
  expect(made.get('tile')).toBeUndefined();
  clock.now += 1_999;
  put();
  expect(made.get('tile')).toBeUndefined();
  clock.now += 1;
  put();
  expect(made.get('tile')).toBeDefined();
});

test('an answer is used only while changes are followed, and until the first of its markers expires', () => {
  const { clock, made, put } = memory();
  put('tile', answer(12_000));
  clock.trusted = false;
  expect(made.get('tile')).toBeUndefined();
  clock.trusted = true;
  expect(made.get('tile')).toBeDefined();
  clock.now = 12_000;
  expect(made.get('tile')).toBeUndefined();
});

test('what was kept before changes may have been missed, or were forgotten, is not used', () => {
  const { made, put } = memory();
  const since = made.moment();
  put();
  made.clear();
  expect(made.get('tile')).toBeUndefined();
  made.put('tile', answer(), area, since);
  expect(made.get('tile')).toBeUndefined();
  put();
  expect(made.get('tile')).toBeDefined();
  for (let n = 0; n < 10_001; n++) made.changed('cities', [{ from: 500, to: 501 }]);
  expect(made.get('tile')).toBeUndefined();
});

test('answers that were looked at stay kept however much changes elsewhere', () => {
  const { made, put } = memory();
  put();
  for (let n = 0; n < 30_000; n++) {
    made.changed('parks', [{ from: 500, to: 501 }]);
    if (n % 1_000 === 0) made.get('tile');
  }
  expect(made.get('tile')).toBeDefined();
});

test('the memory is bounded in bytes, and off at 0', () => {
  const { made, put } = memory({ maxBytes: 20_000 });
  for (let n = 0; n < 1_000; n++) put(`tile ${n}`);
  const kept = Array.from({ length: 1_000 }, (_, n) => made.get(`tile ${n}`)).filter((one) => one !== undefined);
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThan(20);
  const off = memory({ maxBytes: 0 });
  off.put();
  expect(off.made.get('tile')).toBeUndefined();
});

test('a server keeps answers while its consumer keeps up, and pages lack nothing that is published', () => {
  const status = { owner: true, behindMs: 0, countsExact: true, endAt: 1_000 };
  let now: object = status;
  const { answers } = createServices(memoryDatabase(), { consumerStatus: () => now as typeof status });
  answers.put('tile', answer(), area, answers.moment());
  const isUsed = (state: object) => {
    now = { ...status, ...state };
    return answers.get('tile') !== undefined;
  };
  expect(isUsed({})).toBe(true);
  expect(isUsed({ behindMs: 3_000 })).toBe(false);
  expect(isUsed({ owner: false })).toBe(false);
  expect(isUsed({ published: { from: 1, to: 1, endAt: 1_001 } })).toBe(false);
  expect(isUsed({ published: { from: 1, to: 1, endAt: 1_000 } })).toBe(true);
});
