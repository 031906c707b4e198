import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { compareBytes } from '../../src/keys/byte-order.js';
import { readUnion, uniteRanges, type RangeRequest, type ReadResponse } from '../../src/loaders/range-loader.js';

const ask = (from: string, to: string, pk = 'p', limit = Infinity, maxCalls = Infinity): RangeRequest => ({
  range: { index: 'geoA', pk, from, to },
  limit,
  maxCalls,
});
const spans = (requests: readonly RangeRequest[]) =>
  uniteRanges(requests).map(({ range: { pk, from, to } }) => `${pk} ${from}..${to}`);

describe('uniting ranges', () => {
  test('joins ranges that overlap, and separates partitions and indexes', () => {
    expect(spans([ask('20', '40:;'), ask('30', '50:;'), ask('30', '50:;', 'q')])).toEqual(['p 20..50:;', 'q 30..50:;']);
    const other: RangeRequest = { ...ask('20', '40:;'), range: { index: 'geoB', pk: 'p', from: '20', to: '40:;' } };
    expect(uniteRanges([ask('20', '40:;'), other])).toHaveLength(2);
  });

  test('joins ranges of neighboring geohashes, even if more than one character differs', () => {
    expect(spans([ask('90', '9z:;'), ask('b0', 'b5:;')])).toEqual(['p 90..b5:;']);
    expect(spans([ask('b0', 'b5'), ask('b6', 'b6')])).toEqual(['p b0..b6']);
    expect(spans([ask('90', '9z:;'), ask('b1', 'b5:;')])).toHaveLength(2);
    expect(spans([ask('90', 'zz:;'), ask('00', '01:;')])).toHaveLength(2);
  });

  test('never joins a range that begins at a key with one that it does not overlap', () => {
    expect(spans([ask('90', '95:;'), ask('96::key', '97:;')])).toHaveLength(2);
  });

  test('adds nothing for a range inside another, and omits one that ends before it starts', () => {
    expect(spans([ask('20', '90:;'), ask('30', '40:;'), ask('8', '7')])).toEqual(['p 20..90:;']);
  });
});

interface Row extends Record<string, unknown> {
  readonly pk: string;
  readonly sk: string;
}

/** A partition of DynamoDB: pages of at most `pageSize`, the first one sometimes empty. */
function partition(rows: readonly Row[], pageSize: number) {
  const queries: { from: string; to: string; limit: number | undefined }[] = [];
  let calls = 0;
  const read: ReadResponse = async ({ pk, from, to }, limit, start) => {
    calls++;
    if (!start) queries.push({ from, to, limit });
    const after = start?.['sk'] as string | undefined;
    const found = rows.filter(
      (row) =>
        row.pk === pk &&
        compareBytes(from, row.sk) <= 0 &&
        compareBytes(row.sk, to) <= 0 &&
        (after === undefined || compareBytes(row.sk, after) > 0),
    );
    const empty = !start && calls % 3 === 0;
    const items = empty ? [] : found.slice(0, Math.min(pageSize, limit ?? Infinity));
    const last = items.at(-1);
    if (empty) return { items, next: { pk, sk: from } };
    return { items, next: last && (items.length < found.length || items.length === limit) ? last : undefined };
  };
  return { read, queries, calls: () => calls };
}

const DIGITS = '0123456789bcdefghjkmnpqrstuvwxyz';
const cell = fc.integer({ min: 0, max: 1023 }).map((z) => DIGITS.charAt(z >> 5) + DIGITS.charAt(z & 31));
const row = fc
  .record({
    pk: fc.constantFrom('p', 'q'),
    cell,
    key: fc.string({ maxLength: 3, unit: fc.constantFrom('a', 'é', '😀', '\uff5e') }),
  })
  .map(({ pk, cell: hash, key }): Row => ({ pk, sk: `${hash}::${key}` }));
const bySortKey = (a: Row, b: Row) => compareBytes(a.sk, b.sk);
const rows = fc
  .uniqueArray(row, { maxLength: 120, selector: ({ pk, sk }) => pk + sk })
  .map((list) => list.toSorted(bySortKey));
const request = (limit: fc.Arbitrary<number>, maxCalls: fc.Arbitrary<number>) =>
  fc
    .tuple(cell, cell, fc.constantFrom('p', 'q'), limit, maxCalls)
    .map(([a, b, pk, most, calls]) => ask(a < b ? a : b, `${a < b ? b : a}:;`, pk, most, calls));
const all = fc.constant(Infinity);

const slice = (list: readonly Row[], { range: { pk, from, to } }: RangeRequest) =>
  list.filter((item) => item.pk === pk && compareBytes(from, item.sk) <= 0 && compareBytes(item.sk, to) <= 0);

async function readAll(requests: readonly RangeRequest[], read: ReadResponse) {
  const answers = new Map<RangeRequest, Awaited<ReturnType<typeof readUnion>>[number]>();
  for (const union of uniteRanges(requests)) {
    const slices = await readUnion(union, read, (item) => String(item['sk']));
    union.requests.forEach((member, index) => answers.set(member, slices[index]!));
  }
  return answers;
}

describe('reading a union', () => {
  test('gives each caller exactly its slice, in order, from one pass over each union', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.array(request(all, all), { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        async (list, requests, pageSize) => {
          const source = partition(list, pageSize);
          const answers = await readAll(requests, source.read);
          for (const member of requests) {
            expect(answers.get(member)?.items).toEqual(slice(list, member));
            expect(answers.get(member)?.complete).toBe(true);
          }
          expect(source.queries.map(({ from, to }) => `${from}..${to}`)).toEqual(
            uniteRanges(requests).map(({ range }) => `${range.from}..${range.to}`),
          );
        },
      ),
    );
  });

  test('gives a limited caller the start of its slice, and never reports a truncated slice as complete', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.array(request(fc.oneof(fc.integer({ min: 1, max: 9 }), all), all), { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        async (list, requests, pageSize) => {
          const answers = await readAll(requests, partition(list, pageSize).read);
          for (const member of requests) {
            const expected = slice(list, member);
            const answer = answers.get(member);
            expect(answer?.items).toEqual(expected.slice(0, member.limit));
            // A slice of exactly the limit may be reported either way.
            const right = expected.length === member.limit || answer?.complete === expected.length < member.limit;
            expect(right, `${expected.length} of ${member.limit}, complete: ${answer?.complete}`).toBe(true);
          }
        },
      ),
    );
  });

  test('gives a caller with few calls the start of its slice', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.array(
          request(fc.oneof(fc.integer({ min: 1, max: 9 }), all), fc.oneof(fc.integer({ min: 1, max: 3 }), all)),
          { maxLength: 8 },
        ),
        fc.integer({ min: 1, max: 20 }),
        async (list, requests, pageSize) => {
          const answers = await readAll(requests, partition(list, pageSize).read);
          for (const member of requests) {
            const expected = slice(list, member);
            const { items, complete } = answers.get(member)!;
            expect(items).toEqual(expected.slice(0, items.length));
            expect(complete && items.length < expected.length).toBe(false);
          }
        },
      ),
    );
  });

  test('gives a caller whose calls were used up by an empty page nothing from beyond the gap', async () => {
    const list: Row[] = ['04::', '05::'].map((sk) => ({ pk: 'p', sk }));
    const few = ask('04', '05:;', 'p', 1, 1);
    const answers = await readAll([few, ask('05', '05:;')], async (range, limit, start) =>
      start === undefined && range.from === '04'
        ? { items: [], next: { pk: 'p', sk: '04' } }
        : await partition(list, 9).read(range, limit, start),
    );
    expect(answers.get(few)).toMatchObject({ items: [], complete: false });
  });

  test('passes limits to DynamoDB, so that a page of ten does not read a partition of a million', async () => {
    const list = Array.from({ length: 1000 }, (_, n): Row => ({
      pk: 'p',
      sk: `b${DIGITS.charAt(n >> 5)}::${String(n).padStart(4, '0')}`,
    }));
    const source = partition(list.toSorted(bySortKey), 500);
    const [answer] = await readUnion(
      { range: ask('b0', 'bz:;').range, requests: [ask('b0', 'bz:;', 'p', 10)] },
      source.read,
      (item) => String(item['sk']),
    );
    expect(answer).toMatchObject({ complete: false, calls: 1 });
    expect(source.queries).toEqual([{ from: 'b0', to: 'bz:;', limit: 10 }]);
  });

  test('skips the gap between a caller that has enough and the next one', async () => {
    const list = Array.from({ length: 900 }, (_, n): Row => ({
      pk: 'p',
      sk: `b${DIGITS.charAt(Math.floor(n / 30))}::${String(n).padStart(4, '0')}`,
    }));
    const source = partition(list, 1000);
    const first = ask('b0', 'by:;', 'p', 5);
    const second = ask('bx', 'by:;', 'p', 5);
    const answers = await readAll([first, second], source.read);
    expect(source.queries).toEqual([
      { from: 'b0', to: 'by:;', limit: 10 },
      { from: 'bx', to: 'by:;', limit: 5 },
    ]);
    expect(answers.get(second)?.items).toEqual(list.slice(870, 875));
    expect(answers.get(first)?.items).toEqual(list.slice(0, 5));
  });
});
