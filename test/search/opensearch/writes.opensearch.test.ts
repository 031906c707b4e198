import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { systemClock } from '../../../src/clock.js';
import { normalizeBounds } from '../../../src/geo/bounds.js';
import type { SearchChange, SearchEngine, SearchQuery } from '../../../src/search/engine.js';
import { openClient, type Client } from '../../../src/search/opensearch/client.js';
import { indexNames } from '../../../src/search/opensearch/indexes.js';
import type { Refusal } from '../../../src/search/opensearch/write.js';
import { wordsOf } from '../../../src/search/words.js';
import { HAS_OPENSEARCH } from '../../services/opensearch-server.js';
import { inTurn, variants } from '../../support/rounds.js';
import { positions } from '../../support/shapes.js';
import { documentOf } from '../documents.js';
import { clusterUrl, newEngine } from './cluster.js';
import { startProxy, type ClusterProxy } from './proxy.js';

const EVERYTHING: SearchQuery = { words: [], scopes: undefined, area: undefined, near: undefined };
const put = (key: string, more = {}): SearchChange => ({ type: 'put', document: documentOf(key, more) });
const named = (text: string): SearchQuery => ({ ...EVERYTHING, words: wordsOf(text) });

describe.skipIf(!HAS_OPENSEARCH)('writes to OpenSearch', () => {
  const turn = inTurn(2);
  let proxy: ClusterProxy;
  let client: Client;
  const refused: Refusal[] = [];
  let engine: SearchEngine;
  beforeAll(async () => {
    proxy = await startProxy(await clusterUrl());
    client = await openClient(proxy.url);
    engine = await newEngine(client, {
      onRefused: (some) => {
        refused.push(...some);
        return Promise.resolve();
      },
    });
  });
  afterAll(() => proxy?.close());

  const isBulk = (path: string) => path.includes('_bulk');
  const keysOf = (refusals: readonly Refusal[]) => new Set(refusals.map(({ key }) => key.pk.split('::')[2]));

  test('a document whose request is rejected becomes a dead letter, and all others are written', async () => {
    proxy.intercept = (path, body) => (isBulk(path) && body.includes('poison') ? { status: 400 } : undefined);
    await engine.clear();
    await engine.write(
      [...Array(20).keys()].map((n) => put(n % 9 === 4 ? `poison${n}` : `m${n}`)),
      'one',
    );
    proxy.intercept = () => undefined;
    expect(keysOf(refused.splice(0))).toEqual(new Set(['poison4', 'poison13']));
    expect(await engine.count(EVERYTHING)).toBe(18);
    expect(await engine.checkpoint()).toBe('one');
  });

  test.runIf(turn())('a document that OpenSearch does not take becomes a dead letter, with the reason', async () => {
    await engine.clear();
    // A box whose south is above its north.
    const wrong = { bounds: { west: 1, south: 3, east: 1, north: 2 } };
    await engine.write([put('a'), put('wrong', wrong), put('b')], 'one');
    const [letter, ...more] = refused.splice(0);
    expect(more).toEqual([]);
    expect(letter?.key.pk).toContain('wrong');
    expect(letter?.reason).toContain('mapper_parsing_exception');
    expect(await engine.count(EVERYTHING)).toBe(2);
  });

  test.runIf(turn())(
    'a zone whose outline OpenSearch does not take is a dead letter, and found nevertheless',
    async () => {
      const letters: Refusal[] = [];
      const bowTie = positions('0 0, 2 2, 2 0, 0 2, 0 0');
      const own = await newEngine(client, {
        shapeOf: () => Promise.resolve({ type: 'Polygon', coordinates: [bowTie] }),
        onRefused: (some) => Promise.resolve(void letters.push(...some)),
      });
      const bounds = { west: 0, south: 0, east: 2, north: 2 };
      await own.write([put('zone', { name: 'Bow Tie', bounds })], 'one');
      expect(letters).toMatchObject([{ key: documentOf('zone').key, reason: expect.stringContaining('shape') }]);
      const area = normalizeBounds('b', { west: 1, south: 1, east: 1.5, north: 1.5 });
      expect(await own.count({ ...named('bow tie'), area })).toBe(1);
      expect(await own.checkpoint()).toBe('one');
    },
  );

  test.each(variants([429, 503, 'no answer'] as const))('writes are repeated after %s', async (fault) => {
    await engine.clear();
    let left = 3;
    proxy.intercept = (path) => {
      if (!isBulk(path) || left === 0) return undefined;
      left -= 1;
      return fault === 'no answer' ? fault : { status: fault };
    };
    await engine.write([put('a'), put('b')], 'one');
    proxy.intercept = () => undefined;
    expect(left).toBe(0);
    expect(await engine.count(EVERYTHING)).toBe(2);
    expect(refused).toEqual([]);
  });

  test('the checkpoint is not stored before the documents', async () => {
    await engine.clear();
    await engine.write([put('a')], 'one');
    proxy.intercept = (path) => (isBulk(path) ? { status: 403 } : undefined);
    await expect(engine.write([put('b')], 'two')).rejects.toThrow(/test_exception/);
    proxy.intercept = () => undefined;
    expect(await engine.checkpoint()).toBe('one');
  });

  test.runIf(turn())(
    'while OpenSearch does not answer, searches fail with UNAVAILABLE, without its message',
    async () => {
      for (const fault of ['no answer', { status: 500 }, { status: 400 }] as const) {
        proxy.intercept = () => fault;
        for (const asking of [
          () => engine.search(named('oslo'), { after: undefined, limit: 1 }),
          () => engine.count(named('oslo')),
        ]) {
          const error: unknown = await asking().catch((thrown: unknown) => thrown);
          expect(error).toMatchObject({ code: 'UNAVAILABLE' });
          expect(String(error)).not.toMatch(/SECRET|exception|ECONN/);
        }
      }
      proxy.intercept = () => undefined;
    },
  );

  test.runIf(turn())('keys as long as DynamoDB allows are indexed, and told apart', async () => {
    await engine.clear();
    const long = 'é'.repeat(900);
    await engine.write(
      [put(`${long}1`, { name: 'One' }), put(`${long}2`, { name: 'Two' }), put('a#b', { name: 'Three' })],
      'x',
    );
    for (const [name, end] of [
      ['One', '1'],
      ['Two', '2'],
      ['Three', 'a#b'],
    ] as const) {
      const hits = await engine.search(named(name), { after: undefined, limit: 5 });
      expect(hits.map(({ key }) => key.pk.endsWith(end))).toEqual([true]);
    }
  });

  test.runIf(turn())('no property of a marker becomes a field, whatever its name and value', async () => {
    const names = indexNames('Fields', '');
    const own = await newEngine(client, { names });
    const fields = async () => JSON.stringify((await client.indices.getMapping({ index: names.pattern })).body);
    const before = await fields();
    const rest = 'number 1 true {"a.b":{"type":"geo_point"}} 2026-11-21 \u0000';
    await own.write(
      [...Array(50).keys()].map((n) => put(`m${n}`, { name: `${n}`, rest: `${rest} p${n}` })),
      'one',
    );
    expect(await fields()).toBe(before);
    expect(await own.count(named('p7'))).toBe(1);
  });

  test.runIf(turn())('deleted items are remembered for 48 hours, then removed', async () => {
    let now = systemClock.wall();
    const names = indexNames('Purged', '');
    const clock = { ...systemClock, wall: () => now };
    const own = await newEngine(client, { names, clock });
    const total = async () => {
      await client.indices.refresh({ index: names.pattern });
      return (await client.count({ index: names.pattern })).body.count;
    };
    const { key, incarnation } = documentOf('a');
    await own.write([put('a'), put('b'), { type: 'remove', key, incarnation }], 'one');
    expect(await own.count(EVERYTHING)).toBe(1);
    expect(await total()).toBe(2);
    now += 47 * 3_600_000;
    await own.write([put('a')], 'late');
    expect(await own.count(EVERYTHING)).toBe(1);
    now += 2 * 3_600_000;
    await own.write([], 'two');
    expect(await total()).toBe(1);
  });

  test('two writers that change the same documents lose no deletion', async () => {
    const one = await newEngine(client);
    const changes = [...Array(30).keys()].flatMap((n): SearchChange[] => {
      const key = `m${n % 6}`;
      const incarnation = `life ${Math.floor(n / 6)}`;
      const removed: SearchChange = { type: 'remove', key: documentOf(key).key, incarnation };
      return [put(key, { incarnation, name: `${key} ${incarnation}` }), ...(n < 24 ? [removed] : [])];
    });
    // As a server that lost the lease and the one that took it: both write the same records, one behind the other.
    await Promise.all([one.write(changes, 'a'), one.write(changes.slice(0, 40), 'b'), one.write(changes, 'c')]);
    expect(await one.count(EVERYTHING)).toBe(6);
    expect(await one.count(named('life 4'))).toBe(6);
  });

  test.runIf(turn())('bounds are exact to the last digit', async () => {
    await engine.clear();
    const lng = 16.900000000000002;
    await engine.write([put('a', { bounds: { west: lng, east: lng, south: 52.1, north: 52.1 } })], 'one');
    const inside = (east: number) =>
      engine.count({ ...EVERYTHING, area: normalizeBounds('b', { west: 16, south: 52.1, east, north: 53 }) });
    expect(await inside(lng)).toBe(1);
    expect(await inside(16.9)).toBe(0);
  });
});
