import { afterEach, expect, test, vi } from 'vitest';

import { loadTiles } from '../../src/client/load-tiles.js';
import { createViewport, type Viewport, type ViewportOptions } from '../../src/client/public.js';
import { tilesOver } from '../../src/client/tiles.js';

const opened: Viewport[] = [];
afterEach(() => {
  for (const viewport of opened.splice(0)) viewport.close();
  vi.unstubAllGlobals();
});
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const marker = (key: string, lng: number, lat: number) => ({
  id: `marker::cars::${key}`,
  key,
  name: key,
  category: null,
  position: { lng, lat },
  properties: {},
});
const connection = (nodes: object[], endCursor: string | null) => ({
  nodes,
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
});
/** Of the first rectangle of a request. */
interface Vars {
  readonly after0: string | null;
  readonly bounds0: { readonly west: number };
}

/** Answers requests by a function of their variables; some milliseconds later, unless aborted. */
function serve(
  answer: (variables: Vars, n: number) => { data?: object | null; errors?: object[] },
  delay: (variables: Vars) => number = () => 0,
) {
  const asked: Vars[] = [];
  vi.stubGlobal('fetch', async (_url: string, { body, signal }: { body: string; signal?: AbortSignal }) => {
    signal?.throwIfAborted();
    const { variables } = JSON.parse(body) as { variables: Vars };
    const n = asked.push(variables);
    const reply = answer(variables, n);
    await new Promise<void>((resolve, reject) => {
      setTimeout(resolve, delay(variables));
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
    return { status: 200, json: async () => reply };
  });
  return asked;
}
function open(options: Partial<ViewportOptions>) {
  const viewport = createViewport({
    url: 'http://x/graphql',
    collection: 'cars',
    debounce: 5,
    live: false,
    ...options,
  });
  opened.push(viewport);
  return viewport;
}
const WAIT = { timeout: 30_000 };
const keysIn = (viewport: Viewport) => () => viewport.state.markers.map(({ key }) => key).toSorted();

const HERE = { west: 16.1, south: 52.1, east: 16.2, north: 52.2 };

test('a failed second page is read again', async () => {
  let isDown = true;
  const asked = serve(({ after0 }) => {
    if (after0 === null) return { data: { r0: { content: connection([marker('a', 16.15, 52.15)], 'next') } } };
    if (isDown)
      return {
        data: { r0: null },
        errors: [{ message: 'throttled', extensions: { code: 'THROTTLED', retryAfterMs: 50 } }],
      };
    return { data: { r0: { content: connection([marker('b', 16.16, 52.16)], null) } } };
  });
  const viewport = open({ content: 'markers', padding: 0 });
  viewport.view(HERE, 9);
  await expect.poll(() => asked.length, WAIT).toBeGreaterThan(1);
  isDown = false;
  await expect.poll(keysIn(viewport), WAIT).toEqual(['a', 'b']);
  expect(asked.length).toBeGreaterThan(2);
  expect(viewport.state.error).toBeNull();
});

test('who pans away after the first page and comes back gets all pages', async () => {
  let isSlow = true;
  const answer = ({ after0, bounds0 }: Vars) => {
    if (bounds0.west > 50) return { data: { r0: { content: connection([], null) } } };
    if (after0 === null) return { data: { r0: { content: connection([marker('a', 16.15, 52.15)], 'next') } } };
    return { data: { r0: { content: connection([marker('b', 16.16, 52.16)], null) } } };
  };
  const asked = serve(answer, ({ after0 }) => (after0 !== null && isSlow ? 5_000 : 10));
  const viewport = open({ content: 'markers', padding: 0 });
  viewport.view(HERE, 9);
  await expect.poll(keysIn(viewport), WAIT).toEqual(['a']);
  viewport.view({ ...HERE, west: 60, east: 60.1 }, 9);
  // The second page was aborted before that.
  await expect.poll(() => asked.at(-1)?.bounds0.west, WAIT).toBeGreaterThan(50);
  await expect.poll(keysIn(viewport), WAIT).toEqual([]);
  isSlow = false;
  viewport.view(HERE, 9);
  await expect.poll(keysIn(viewport), WAIT).toEqual(['a', 'b']);
  await expect.poll(() => viewport.state.loading, WAIT).toBe(false);
});

test('a page that is empty but not the last leaves what is drawn', async () => {
  let isSlow = false;
  serve(
    ({ after0 }) => {
      if (isSlow && after0 === null) return { data: { r0: { content: connection([], 'next') } } };
      return { data: { r0: { content: connection([marker('a', 16.15, 52.15)], null) } } };
    },
    ({ after0 }) => (after0 === null ? 0 : 50),
  );
  const viewport = open({ content: 'markers', padding: 0 });
  viewport.view(HERE, 9);
  await expect.poll(keysIn(viewport), WAIT).toEqual(['a']);
  const drawn: string[][] = [];
  viewport.subscribe((state) => void drawn.push(state.markers.map(({ key }) => key)));
  isSlow = true;
  viewport.refresh();
  await expect.poll(() => drawn.length > 0 && !viewport.state.loading, WAIT).toBe(true);
  expect(drawn.filter((keys) => keys.length === 0)).toEqual([]);
});

test('an empty page of zones takes no live markers', async () => {
  serve(() => ({ data: { r0: { content: connection([], null) } } }));
  const rect = tilesOver(HERE, 9, 0, 9);
  const options = { url: 'http://x/graphql', collection: 'cars', content: 'zones' } as const;
  const most: number[] = [];
  for await (const { entries } of loadTiles(options, [rect], 1, new AbortController().signal)) {
    most.push(...entries.map(({ maxMarkers }) => maxMarkers));
  }
  expect(most).toEqual([0]);
});

test('refresh() during a request shows what was written before refresh()', async () => {
  let written = false;
  serve(
    () => ({ data: { r0: { content: connection(written ? [marker('new', 16.15, 52.15)] : [], null) } } }),
    () => 60,
  );
  const viewport = open({ content: 'markers', padding: 0 });
  viewport.view(HERE, 9);
  await sleep(30);
  written = true;
  viewport.refresh();
  await expect.poll(keysIn(viewport), WAIT).toEqual(['new']);
});

test('who pans away and back while the subscription connects gets the first view', async () => {
  class Connecting {
    onopen = null;
    send() {}
    close() {}
  }
  vi.stubGlobal('WebSocket', Connecting);
  const asked = serve(({ bounds0 }) => ({
    data: {
      r0: {
        content: {
          mode: 'MARKERS',
          markers: [marker('a', 16.15, 52.15)].filter(() => bounds0.west < 16.2),
          clusters: [],
        },
      },
    },
  }));
  const viewport = open({ live: true, padding: 0, debounce: 50 });
  // Level 9: tiles are 0.703 degrees wide; both are in the same tile of level 8.
  const at = (lng: number) => viewport.view({ ...HERE, west: lng, east: lng + 0.05 }, 9);
  const [a, b] = [16.0, 16.3];
  expect(Math.floor(((a + 180) / 360) * 256)).toBe(Math.floor(((b + 180) / 360) * 256));
  expect(Math.floor(((a + 180) / 360) * 512)).not.toBe(Math.floor(((b + 180) / 360) * 512));
  at(a);
  await sleep(20);
  at(b);
  await sleep(80);
  at(a);
  await expect.poll(keysIn(viewport), WAIT).toEqual(['a']);
  expect(asked.length).toBeGreaterThan(0);
});
