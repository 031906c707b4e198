import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { liveTiles, type RefreshableMap } from '../../src/client/public.js';

interface TileId {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** What a map was told to load again: tiles, or all. */
const refreshed: (string[] | 'all')[] = [];
let movestart: (() => void) | undefined;
let isMoving = false;
let shown: readonly TileId[] = [];

const map: RefreshableMap = {
  getSource: (id) => (id === 'cars' ? { tileSize: 512 } : undefined),
  coveringTiles: () => shown.map((canonical) => ({ canonical })),
  refreshTiles: (source, tiles) => {
    expect(source).toBe('cars');
    refreshed.push(tiles?.map(({ z, x, y }) => `${z}/${x}/${y}`) ?? 'all');
  },
  isMoving: () => isMoving,
  on: (_, listener) => (movestart = listener),
  off: (_, listener) => movestart === listener && (movestart = undefined),
};

/** Streams of the server, and the headers with which they were asked for. */
const streams: { readonly send: (text: string) => void; readonly end: () => void }[] = [];
const asked: { readonly url: string; readonly headers: unknown }[] = [];
let statuses: number[] = [];
const changed = (z: number, ...tiles: [number, number][]) =>
  `event: changed\ndata: ${JSON.stringify({ z, tiles })}\n\n`;
const failed = (code: string) =>
  `event: error\ndata: ${JSON.stringify({ errors: [{ message: code, extensions: { code } }] })}\n\n`;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', (url: string, { headers, signal }: RequestInit) => {
    asked.push({ url, headers });
    const status = statuses.shift() ?? 200;
    if (status !== 200) return Promise.resolve(new Response('{}', { status }));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal?.addEventListener('abort', () => controller.error(signal.reason));
        streams.push({
          send: (text) => controller.enqueue(new TextEncoder().encode(text)),
          end: () => controller.close(),
        });
      },
    });
    return Promise.resolve(new Response(body));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const list of [refreshed, streams, asked]) list.length = 0;
  [isMoving, shown, statuses] = [false, [], []];
});

/** Lets promises settle, and this much time pass. */
const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
/** What the map was told since the last call. */
const news = () => refreshed.splice(0);

async function follow(onError?: (error: Error) => void) {
  const live = liveTiles(map, { url: '/tiles/cars', source: 'cars', onError });
  await pass(10_000);
  expect(news()).toEqual(['all']);
  return live;
}

test('only shown tiles on which a change may tell are loaded again, of every zoom and across the antimeridian', async () => {
  const live = await follow();
  shown = [
    { z: 0, x: 0, y: 0 },
    { z: 4, x: 0, y: 8 },
    { z: 4, x: 2, y: 8 },
    { z: 4, x: 3, y: 8 },
    { z: 4, x: 14, y: 8 },
    { z: 4, x: 13, y: 8 },
    { z: 4, x: 0, y: 11 },
    { z: 16, x: 2, y: 2 ** 15 },
    { z: 16, x: 6, y: 2 ** 15 },
  ];
  streams[0]?.send(changed(14, [0, 2 ** 13]));
  await pass();
  expect(news()).toEqual([['0/0/0', '4/0/8', '4/2/8', '4/14/8', '16/2/32768']]);
  streams[0]?.send(changed(3, [5, 1]));
  await pass();
  expect(news()).toEqual([['0/0/0']]);
  live.close();
  expect(movestart).toBeUndefined();
});

test('what the map keeps out of view is loaded again when it moves, once, and all while it is moving', async () => {
  const live = await follow();
  movestart?.();
  expect(news()).toEqual([]);
  streams[0]?.send(changed(14, [9, 9]));
  await pass();
  expect(news()).toEqual([]);
  movestart?.();
  movestart?.();
  expect(news()).toEqual(['all']);
  isMoving = true;
  streams[0]?.send(changed(14, [9, 9]));
  await pass();
  expect(news()).toEqual(['all']);
  live.close();
});

test('a stream that breaks or may have missed changes is opened again, and then everything is loaded', async () => {
  const live = await follow();
  streams[0]?.end();
  await pass(60_000);
  expect([streams.length, news()]).toEqual([2, ['all']]);
  statuses = [503, 503];
  streams[1]?.send(failed('UNAVAILABLE'));
  await pass(200_000);
  expect([streams.length, asked.length, news()]).toEqual([3, 5, ['all']]);
  live.close();
  await pass(200_000);
  expect([asked.length, news()]).toEqual([5, []]);
});

test('headers are asked for each time, and once more when refused; a refusal that lasts is told', async () => {
  statuses = [401];
  const refusals: boolean[] = [];
  const errors: Error[] = [];
  const live = liveTiles(map, {
    url: '/tiles/cars',
    source: 'cars',
    headers: (isRefused) => {
      refusals.push(isRefused);
      return { authorization: `Bearer ${refusals.length}` };
    },
    onError: (error) => errors.push(error),
  });
  await pass(10_000);
  expect(asked.map(({ url }) => url)).toEqual(['/tiles/cars/changes', '/tiles/cars/changes']);
  expect([refusals, asked.at(-1)?.headers]).toEqual([[false, true], { authorization: 'Bearer 2' }]);
  // The credential may have expired: another try, then it is over.
  statuses = [403];
  streams[0]?.send(failed('FORBIDDEN'));
  await pass(60_000);
  expect(errors).toMatchObject([{ name: 'ViewportError', code: 'FORBIDDEN' }]);
  expect(asked).toHaveLength(3);
  live.close();
});
