import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { systemClock } from '../../../src/clock.js';
import { AnswerWriter } from '../../../src/graphql/execution/json-text.js';
import { Scheduler } from '../../../src/scheduling/scheduler.js';

const scheduler = new Scheduler(systemClock);
const writer = new AnswerWriter(scheduler, 1_000_000_000);
const textOf = (value: unknown) => writer.text(Buffer.from(JSON.stringify(value)));
const written = async (value: unknown) => String(writer.spliced(await writer.stringify(value)));

test('serialized JSON text is embedded as its value, wherever and however often it occurs in a response', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue(), { minLength: 1 }), fc.jsonValue(), async (values, between) => {
      const around = (list: readonly unknown[]) => ({ a: list, b: [between, { c: list[0], list }], d: list.at(-1) });
      const texts = values.map(textOf);
      expect(await written(around(texts))).toBe(JSON.stringify(around(values)));
    }),
  );
});

test('JSON text alone, a response without any, and JSON text passed to JSON.stringify are serialized correctly', async () => {
  const text = textOf({ a: [1, '$&'] });
  expect(await written(text)).toBe(text.text);
  expect(await written({ a: '$&', b: null })).toBe('{"a":"$&","b":null}');
  expect(JSON.stringify([text])).toBe(`[${text.text}]`);
});

test('integers of more than 53 bits are rounded, beside JSON text', async () => {
  const text = textOf('text');
  expect(await written([text, { a: [2n ** 53n + 1n] }, text])).toBe(`["text",{"a":[${2 ** 53}]},"text"]`);
});

test('a response that cannot be serialized does not affect the next one', async () => {
  const text = textOf(1);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  await expect(writer.stringify([text, { cycle }])).rejects.toThrow(RangeError);
  expect(JSON.stringify(text)).toBe('1');
  expect(await written([text])).toBe('[1]');
});

/** A response of several megabytes: long lists, short lists in long ones, wide objects, long strings, JSON text. */
const large = (text: (value: unknown) => unknown) => ({
  errors: undefined,
  data: {
    items: Array.from({ length: 20_000 }, (_, at) => ({
      at,
      name: `n${at}`,
      place: [at % 7, null, undefined],
      ä: 'ö',
    })),
    long: Array.from({ length: 9 }, () => 'x"'.repeat(150_000)),
    wide: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, [at]])),
    lists: Array.from({ length: 30 }, (_, at) => Array.from({ length: 700 * (at % 9) }, (__, n) => ({ n }))),
    texts: Array.from({ length: 6_000 }, (_, at) => [text({ at }), at]),
    when: new Date(0),
    left: () => 1,
    ['__proto__']: 1,
  },
});

test('a large response is the text that JSON.stringify would return', async () => {
  expect(await written(large(textOf))).toBe(JSON.stringify(large((value) => value)));
});

test('other requests are served while a large response is written', async () => {
  let done = false;
  const writing = written(large(textOf)).then(() => (done = true));
  let served = 0;
  for (; !done; served++) await setImmediate();
  await writing;
  expect(served).toBeGreaterThan(2);
});

test('a response that is too long is abandoned before the rest is written, whether UTF-8 or JSON text', async () => {
  const short = new AnswerWriter(scheduler, 200_000);
  const long = (length: number) => short.text(Buffer.from(JSON.stringify('x'.repeat(length))));
  let asked = 0;
  const items = Array.from({ length: 100_000 }, () => ({
    text: 'äöü',
    get late() {
      asked++;
      return 1;
    },
  }));
  const limit = { code: 'LIMIT_EXCEEDED', details: { field: 'size of the answer', limit: 200_000 } };
  await expect(short.stringify(items)).rejects.toMatchObject(limit);
  expect(asked).toBeLessThan(50_000);
  await expect(short.stringify([long(200_000)])).rejects.toMatchObject(limit);
  await expect(short.stringify('x'.repeat(200_000))).rejects.toMatchObject(limit);
  expect(String(short.spliced(await short.stringify([long(199_900)])))).toHaveLength(199_904);
});
