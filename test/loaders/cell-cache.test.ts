import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { CellSums } from '../../src/geo/cell-sums.js';
import { blockName, CellCache } from '../../src/loaders/cell-cache.js';
import type { CellChanges } from '../../src/model/cell-changes.js';
import type { CellBlock } from '../../src/model/cell.js';

const figures = (count: number): CellSums => ({ count, sumLng: 10 * count, sumLat: -5 * count });
const block = (parent: string, batch: number, children: Record<string, number>): CellBlock => ({
  parent,
  batch,
  children: new Map(Object.entries(children).map(([child, count]) => [child, figures(count)])),
});
const changes = (scope: string, parent: string, children: Record<string, number>): CellChanges =>
  new Map([[scope, new Map([[parent, block(parent, 0, children).children]])]]);

function cacheAt(options: { maxBytes?: number; trusted?: boolean } = {}) {
  const clock = { now: 1_000, trusted: options.trusted ?? true };
  const cache = new CellCache({
    maxBytes: options.maxBytes ?? 1e6,
    trusted: () => clock.trusted,
    now: () => clock.now,
  });
  return { cache, clock };
}

/** The cache packs children. */
const plain = (one: CellBlock | undefined) => one && { ...one, children: new Map(one.children) };

describe('a cell cache', () => {
  test('adds the changes of a batch once, and drops children without markers', () => {
    const { cache } = cacheAt();
    cache.put(blockName('s', 'u'), block('u', 3, { '0': 2, '1': 1 }), cache.begin());
    cache.applied(4, changes('s', 'u', { '0': 1, '1': -1, '2': 5 }));
    cache.applied(4, changes('s', 'u', { '0': 1 }));
    cache.applied(3, changes('s', 'u', { '0': 1 }));
    expect(plain(cache.get(blockName('s', 'u')))).toEqual(block('u', 4, { '0': 3, '2': 5 }));
    expect(cache.get(blockName('t', 'u'))).toBeUndefined();
  });

  test('never changes a block that it has returned', () => {
    const { cache } = cacheAt();
    cache.put(blockName('s', 'u'), block('u', 1, { '0': 2 }), cache.begin());
    const before = cache.get(blockName('s', 'u'));
    cache.applied(2, changes('s', 'u', { '0': 1 }));
    expect(plain(before)).toEqual(block('u', 1, { '0': 2 }));
  });

  test('does not keep the result of a read that was in progress, or lagging, when a batch was applied', () => {
    const { cache, clock } = cacheAt();
    const underWay = cache.begin();
    cache.applied(7, changes('s', 'u', { '0': 1 }));
    expect(plain(cache.put(blockName('s', 'u'), block('u', 6, { '0': 1 }), underWay))).toEqual(
      block('u', 6, { '0': 1 }),
    );
    expect(cache.get(blockName('s', 'u'))).toBeUndefined();
    clock.now += 1_000;
    cache.put(blockName('s', 'u'), block('u', 6, { '0': 1 }), cache.begin());
    expect(cache.get(blockName('s', 'u'))).toBeUndefined();
    cache.put(blockName('s', 'u'), block('u', 7, { '0': 2 }), cache.begin());
    expect(cache.get(blockName('s', 'u'))?.batch).toBe(7);
    expect(plain(cache.put(blockName('s', 'u'), block('u', 6, { '0': 1 }), cache.begin()))).toEqual(
      block('u', 7, { '0': 2 }),
    );
  });

  test('remembers missing blocks, and additions to them', () => {
    const { cache } = cacheAt();
    cache.put(blockName('s', 'u'), block('u', 0, {}), cache.begin());
    expect(cache.get(blockName('s', 'u'))?.children.size).toBe(0);
    cache.applied(2, changes('s', 'u', { z: 1 }));
    expect(plain(cache.get(blockName('s', 'u')))).toEqual(block('u', 2, { z: 1 }));
  });

  test('uses nothing older than two seconds while it receives no changes', () => {
    const { cache, clock } = cacheAt({ trusted: false });
    cache.put(blockName('s', 'u'), block('u', 1, { '0': 2 }), cache.begin());
    clock.now += 1_999;
    expect(cache.get(blockName('s', 'u'))).toBeDefined();
    clock.now += 1;
    expect(cache.get(blockName('s', 'u'))).toBeUndefined();
    // Nor instead of what is read, as the collection may be another one with the same key.
    expect(plain(cache.put(blockName('s', 'u'), block('u', 0, {}), cache.begin()))).toEqual(block('u', 0, {}));
    expect(plain(cache.get(blockName('s', 'u')))).toEqual(block('u', 0, {}));
  });

  test('is cleared when the consumer changes, including reads in progress', () => {
    const { cache } = cacheAt();
    cache.put(blockName('s', 'u'), block('u', 1, { '0': 2 }), cache.begin());
    const underWay = cache.begin();
    cache.clear();
    cache.put(blockName('s', 'u'), block('u', 1, { '0': 2 }), underWay);
    expect(cache.get(blockName('s', 'u'))).toBeUndefined();
  });

  test('stays within its size in bytes, and keeps nothing at 0', () => {
    const { cache } = cacheAt({ maxBytes: 10_000 });
    for (let index = 0; index < 1000; index++)
      cache.put(blockName('s', `u${index}`), block(`u${index}`, 1, { '0': 2 }), cache.begin());
    const kept = Array.from({ length: 1000 }, (_, index) => cache.get(blockName('s', `u${index}`))).filter(Boolean);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThan(50);
    const off = cacheAt({ maxBytes: 0 }).cache;
    off.put(blockName('s', 'u'), block('u', 1, { '0': 2 }), off.begin());
    off.applied(2, changes('s', 'u', { '0': 2 }));
    expect(off.get(blockName('s', 'u'))).toBeUndefined();
  });

  test('matches the table whatever the order of reads, batches and lags', () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('apply' as const),
        parent: fc.constantFrom('a', 'b'),
        count: fc.integer({ min: 1, max: 3 }),
      }),
      fc.record({
        kind: fc.constant('read' as const),
        parent: fc.constantFrom('a', 'b'),
        lag: fc.integer({ min: 0, max: 2 }),
        takes: fc.integer({ min: 0, max: 3 }),
      }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { cache, clock } = cacheAt();
        const history = { a: [block('a', 0, {})], b: [block('b', 0, {})] };
        const latest = (parent: 'a' | 'b') => history[parent].at(-1)!;
        let underWay: { after: number; finish: () => void }[] = [];
        let batch = 0;
        for (const now of steps) {
          underWay = underWay.filter((read) => {
            if (read.after-- > 0) return true;
            read.finish();
            return false;
          });
          // Waits until reads no longer lag: an eventually consistent read catches up before changes are evicted.
          if (now.kind === 'wait') {
            if (underWay.length === 0) clock.now += now.ms;
          } else if (now.kind === 'apply') {
            const parent = now.parent as 'a' | 'b';
            batch++;
            const count = (latest(parent).children.get('0')?.count ?? 0) + now.count;
            history[parent].push(block(parent, batch, { '0': count }));
            cache.applied(batch, changes('s', parent, { '0': now.count }));
          } else {
            const parent = now.parent as 'a' | 'b';
            const token = cache.begin();
            const seen = history[parent].at(-1 - now.lag) ?? latest(parent);
            // Every read sees what was applied long ago.
            const found = clock.now > 30_000 ? latest(parent) : seen;
            underWay.push({ after: now.takes, finish: () => cache.put(blockName('s', parent), found, token) });
          }
          for (const parent of ['a', 'b'] as const) {
            const known = cache.get(blockName('s', parent));
            if (known) expect(plain(known)).toEqual(latest(parent));
          }
        }
      }),
    );
  });
});
