import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Client } from 'graphql-ws';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { LiveHub } from '../../src/live/hub.js';
import type { Collection } from '../../src/model/collection.js';
import { newCall } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { serve } from '../server/sources/server.js';
import { MAPPING, shop, shopTables } from '../server/sources/shops.js';
import { putItem } from '../sources/foreign-table.js';
import { inTurn } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { collect, followChanges, until, websocketClient } from './support.js';

const turn = inTurn(2);
const NOW = '2026-11-21T10:00:00.000Z';

/** The keys of all created markers in the order in which a client received them; `error` is why its subscription ended. */
function listen(hub: LiveHub, collection: Collection, since?: number) {
  const received: { keys: string[]; error: unknown; begun: Promise<void> } = {
    keys: [],
    error: undefined,
    begun: Promise.resolve(),
  };
  const opened = hub.markerChanges({ collection, area: undefined, since });
  received.begun = opened.then(() => undefined);
  void (async () => {
    try {
      for await (const { id, kind } of await opened)
        if (kind === 'CREATED') received.keys.push(id.split('::')[2] ?? '');
    } catch (error) {
      received.error = error;
    }
  })();
  return received;
}

const written = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

describe('servers that read the stream themselves', async () => {
  const db = await testDatabase('readable', { stream: true });

  test('each emits every change once, whether it maintains the cells or not; none is lost when another takes over', async () => {
    const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
    const write = async (keys: readonly string[]) => {
      for (const key of keys) await createMarker(newCall(db), parks, { key, position: { lng: 1, lat: 1 } }, NOW);
    };
    const one = followChanges(db);
    await until(() => one.cells.status().owner);
    const two = followChanges(db);
    const [ofOne, ofTwo] = [listen(one.hub, parks), listen(two.hub, parks)];
    await Promise.all([ofOne.begun, ofTwo.begun]);
    expect(two.cells.status().owner).toBe(false);
    await write(written('a', 30));
    await until(() => ofOne.keys.includes('a29') && ofTwo.keys.includes('a29'));
    expect(ofOne.keys).toEqual(written('a', 30));
    expect(ofTwo.keys).toEqual(written('a', 30));

    // Stopped in the middle of a load: the other one becomes the owner while it continues to emit changes.
    const writing = write(written('b', 150));
    await until(() => ofTwo.keys.includes('b20'));
    await one.stop();
    await until(() => two.cells.status().owner);
    await writing;
    await write(['last']);
    await until(() => ofTwo.keys.includes('last'));
    expect(ofTwo).toMatchObject({ keys: [...written('a', 30), ...written('b', 150), 'last'], error: undefined });
    expect(ofOne.error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching('is shutting down') });
    await two.stop();
  });
});

const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;
if (!HAS_REDIS) console.warn('SKIPPED: no redis-server in the PATH');

describe.skipIf(!HAS_REDIS)('servers that get changes through Redis', async () => {
  const db = await testDatabase('readable', { stream: true });
  const folder = temporaryFolder();
  let redis: ChildProcess | undefined;
  let port = 0;

  async function startRedis(): Promise<void> {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
    redis = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    const { stdout } = redis;
    let said = '';
    stdout?.on('data', (data: Buffer) => (said += data.toString()));
    await until(() => said.includes('Ready to accept connections'));
  }

  async function stopRedis(): Promise<void> {
    const gone = redis && once(redis, 'exit');
    redis?.kill('SIGKILL');
    await gone;
  }

  beforeAll(async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const address = probe.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
    await new Promise((resolve) => probe.close(resolve));
    await startRedis();
  });
  afterAll(async () => {
    await stopRedis();
  });

  test('each emits every change; a client that may have missed some gets an error, and the rest when it subscribes again', async () => {
    const begun = Math.floor(Date.now() / 1_000) * 1_000;
    const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
    const write = async (keys: readonly string[]) => {
      for (const key of keys) await createMarker(newCall(db), parks, { key, position: { lng: 1, lat: 1 } }, NOW);
    };
    const redisUrl = `redis://127.0.0.1:${port}`;
    const one = followChanges(db, { redisUrl });
    await until(() => one.cells.status().owner);
    const others = [followChanges(db, { redisUrl }), followChanges(db, { redisUrl })];
    const all = [one, ...others];
    let clients = all.map(({ hub }) => listen(hub, parks));
    await Promise.all(clients.map((each) => each.begun));
    await write(written('a', 30));
    await until(
      () => clients.every(({ keys }) => keys.includes('a29')),
      100,
      () => clients,
    );
    for (const { keys } of clients) expect(keys).toEqual(written('a', 30));

    // Whoever else uses the channel.
    const foreign = ['hello', '{', 'null', '[]', '1', '{"from":"me","count":1}', '{"from":{},"count":"1"}'];
    const somebody = new Redis(redisUrl);
    for (const text of foreign) expect(await somebody.publish(`cellport:${db.tables.entities}`, text)).toBe(3);
    somebody.disconnect();
    await write(['a30']);
    await until(
      () => clients.every(({ keys }) => keys.includes('a30')),
      100,
      () => clients,
    );
    expect(clients.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);

    // Another sender may have skipped some changes.
    await one.stop();
    await until(
      () => clients.slice(1).every(({ error }) => error !== undefined),
      100,
      () => clients,
    );
    expect(clients.slice(1).map(({ error }) => error)).toMatchObject([
      { code: 'UNAVAILABLE' },
      { code: 'UNAVAILABLE' },
    ]);
    await write(written('b', 5));
    clients = others.map(({ hub }) => listen(hub, parks, begun + 1_000));
    await until(
      () => clients.every(({ keys }) => keys.includes('b4')),
      100,
      () => clients,
    );
    for (const { keys } of clients) expect([...new Set(keys)]).toEqual([...written('a', 31), ...written('b', 5)]);

    // And after an outage of Redis.
    await stopRedis();
    await until(
      () => clients.every(({ error }) => error !== undefined),
      100,
      () => clients,
    );
    await write(written('c', 5));
    await startRedis();
    let again = others.map(({ hub }) => listen(hub, parks, begun + 1_000));
    await Promise.all(again.map((each) => each.begun));
    await write(written('d', 5));
    await until(
      () => again.every(({ keys }) => keys.includes('d4')),
      100,
      () => again,
    );
    const expected = ['a', 'b', 'c', 'd'].flatMap((prefix) => written(prefix, prefix === 'a' ? 31 : 5));
    for (const { keys } of again) expect([...new Set(keys)]).toEqual(expected);
    await Promise.all(others.map((each) => each.stop()));
  });

  test('every server emits who won among several items of a source, and still does when another server follows it', async ({
    skip,
    task,
  }) => {
    skip(!turn(task));
    const { make, follow } = shopTables(db);
    const visit = (day: number, lng: number) => shop(`7-${day}`, lng, 1, { shop: '7', day });
    const table = await make('visits', [visit(1, 1)]);
    await follow('visits', { table, key: '{shop}', position: MAPPING.position, newest: 'day' });
    const env = { CELLPORT_REDIS_URL: `redis://127.0.0.1:${port}` };
    const servers = [await serve(db, env), await serve(db, env)];
    const clients = servers.map(({ url }) => websocketClient(url));
    const changed = 'subscription { markerChanged(collection: "visits") { kind marker { position { lng } } } }';
    let lng = 1;
    /** Moves the marker until each of these clients has heard of a move, and then once more. */
    async function allHear(listening: readonly Client[]): Promise<void> {
      const heard = listening.map((client) => collect(client, changed));
      const kinds = () =>
        heard.map(({ data }) => data.filter(({ markerChanged: { marker } }) => marker.position.lng === lng));
      await until(async () => {
        for (const [index, client] of listening.entries())
          if (heard[index]?.ended !== undefined) heard[index] = collect(client, changed);
        lng += 1;
        await putItem(db, table, visit(lng, lng));
        return heard.every(({ data }) => data.length > 0);
      }, 300);
      lng += 1;
      await putItem(db, table, visit(lng, lng));
      await putItem(db, table, visit(0, 99));
      await until(() => kinds().every(({ length }) => length > 0));
      expect(kinds().flat()).toEqual(
        listening.map(() => ({ markerChanged: { kind: 'MOVED', marker: { position: { lng } } } })),
      );
    }
    await allHear(clients);
    const [first, second] = servers;
    await first?.close();
    await allHear(clients.slice(1));
    await second?.close();
    for (const client of clients) await client.dispose();
  }, 60_000);
});
