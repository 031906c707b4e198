import { afterEach, describe, expect, test, vi } from 'vitest';

import { createViewport, type Viewport, type ViewportOptions } from '../../src/client/public.js';

const opened: Viewport[] = [];
afterEach(() => {
  for (const viewport of opened.splice(0)) viewport.close();
  vi.unstubAllGlobals();
});

const HERE = { west: 16.1, south: 52.1, east: 16.2, north: 52.2 };
const WAIT = { timeout: 10_000 };
const EMPTY = { mode: 'MARKERS', markers: [], clusters: [] };
const answered = (content: object = EMPTY) => new Response(JSON.stringify({ data: { r0: { content } } }));

function open(options: Partial<ViewportOptions> = {}): Viewport {
  const viewport = createViewport({ url: 'http://x/graphql', collection: 'c', debounce: 5, live: false, ...options });
  opened.push(viewport);
  return viewport;
}

/** Answers requests; returns their headers. */
function serve(answer: () => Response) {
  const asked: Readonly<Record<string, string>>[] = [];
  vi.stubGlobal('fetch', async (_url: string, { headers, signal }: RequestInit) => {
    signal?.throwIfAborted();
    asked.push(headers as Record<string, string>);
    return answer();
  });
  return asked;
}

/** Sockets that are answered by a function of what they send. */
function serveSockets(answer: (message: { type: string }, socket: FakeSocket) => void) {
  const sockets: FakeSocket[] = [];
  vi.stubGlobal(
    'WebSocket',
    class extends FakeSocket {
      constructor() {
        super(answer);
        sockets.push(this);
      }
    },
  );
  return sockets;
}

class FakeSocket {
  readonly #answer: (message: { type: string }, socket: FakeSocket) => void;
  onopen: () => void = () => undefined;
  onclose: (event: { code: number; reason: string }) => void = () => undefined;
  onmessage: (event: { data: string }) => void = () => undefined;
  isClosed = false;

  constructor(answer: (message: { type: string }, socket: FakeSocket) => void) {
    this.#answer = answer;
    setTimeout(() => this.onopen());
  }

  send(text: string): void {
    this.#answer(JSON.parse(text) as { type: string }, this);
  }

  close(code = 1000, reason = ''): void {
    this.isClosed = true;
    setTimeout(() => this.onclose({ code, reason }));
  }
}

describe('headers', () => {
  test('may be a function, which is called for each request and each connection', async () => {
    let token = 0;
    const asked = serve(() => answered());
    const greetings: unknown[] = [];
    serveSockets((message) => greetings.push(message));
    const viewport = open({ live: true, headers: async () => ({ authorization: `Bearer ${++token}` }) });
    viewport.view(HERE, 9);
    await expect.poll(() => asked.length, WAIT).toBe(1);
    viewport.refresh();
    await expect.poll(() => asked.length, WAIT).toBe(2);
    expect(greetings).toEqual([{ type: 'connection_init', payload: { authorization: 'Bearer 1' } }]);
    expect(asked.map(({ authorization }) => authorization)).toEqual(['Bearer 2', 'Bearer 3']);
  });

  test('are asked for once more when they are refused, also over a WebSocket', async () => {
    let isExpired = true;
    const asked = serve(() => (isExpired ? new Response('{}', { status: 401 }) : answered()));
    const greetings: unknown[] = [];
    serveSockets((message, socket) => {
      greetings.push((message as { payload?: unknown }).payload);
      if (isExpired) socket.close(4401, 'the token has expired');
    });
    const headers = vi.fn(async (isRefused: boolean) => {
      if (isRefused) isExpired = false;
      return { authorization: isExpired ? 'old' : 'new' };
    });
    const viewport = open({ live: true, headers });
    viewport.view(HERE, 9);
    await expect.poll(() => greetings.length, WAIT).toBe(2);
    expect(asked.at(-1)?.['authorization']).toBe('new');
    expect(greetings).toEqual([{ authorization: 'old' }, { authorization: 'new' }]);
    expect(headers.mock.calls.filter(([isRefused]) => isRefused)).not.toEqual([]);
    expect(viewport.state.error).toBeNull();
  });

  test('that are refused twice are not sent a third time', async () => {
    const asked = serve(() => new Response('{}', { status: 401 }));
    const viewport = open({ headers: () => ({ authorization: 'Bearer x' }) });
    viewport.view(HERE, 9);
    await expect.poll(() => viewport.state.error, WAIT).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(asked).toHaveLength(2);
  });

  test('that cannot be had are reported', async () => {
    const asked = serve(() => answered());
    const viewport = open({ headers: () => Promise.reject(new Error('signed out')) });
    viewport.view(HERE, 9);
    await expect.poll(() => viewport.state.error, WAIT).toMatchObject({ code: 'UNAVAILABLE', message: 'signed out' });
    expect(asked).toEqual([]);
  });
});

describe('a refusal', () => {
  test.each([
    [401, '<h1>Unauthorized</h1>', 'UNAUTHENTICATED'],
    [401, '{"message":"Unauthorized"}', 'UNAUTHENTICATED'],
    [403, '{"errors":[{"message":"no"}]}', 'FORBIDDEN'],
    [403, '{"errors":[{"message":"no","extensions":{"code":"NOT_FOUND"}}]}', 'NOT_FOUND'],
    [502, 'Bad gateway', 'UNAVAILABLE'],
  ])('with status %d and the body %s has the code %3$s', async (status, body, code) => {
    serve(() => new Response(body, { status }));
    const viewport = open();
    viewport.view(HERE, 9);
    await expect.poll(() => viewport.state.error, WAIT).toMatchObject({ code });
  });

  test('of a request ends the connection for changes until the map moves', async () => {
    serve(() => new Response('', { status: 401 }));
    const sockets = serveSockets(() => undefined);
    const viewport = open({ live: true });
    viewport.view(HERE, 9);
    await expect.poll(() => viewport.state.error, WAIT).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(sockets.map(({ isClosed }) => isClosed)).toEqual([true]);
    viewport.view({ ...HERE, west: 60, east: 60.1 }, 9);
    await expect.poll(() => sockets.length, WAIT).toBe(2);
  });

  test.each([
    // Rules change: the next connection may be accepted.
    ['connection', 'connection_init', 2, (socket: FakeSocket) => socket.close(4403, 'Forbidden')],
    [
      'subscription',
      'subscribe',
      1,
      (socket: FakeSocket) =>
        socket.onmessage({
          data: JSON.stringify({
            type: 'error',
            id: '1',
            payload: [{ message: 'no', extensions: { code: 'FORBIDDEN' } }],
          }),
        }),
    ],
  ])('of the %s for changes is reported in the end', async (_what, type, connections, refuse) => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    try {
      serve(() => answered());
      const sockets = serveSockets((message, socket) => {
        if (message.type === type) refuse(socket);
        else if (message.type === 'connection_init') socket.onmessage({ data: '{"type":"connection_ack"}' });
      });
      const viewport = open({ live: true });
      const errors: unknown[] = [];
      viewport.subscribe(({ error }) => void errors.push(error));
      viewport.view(HERE, 9);
      await vi.advanceTimersByTimeAsync(120_000);
      expect(errors).toContainEqual(expect.objectContaining({ code: 'FORBIDDEN' }));
      expect(sockets).toHaveLength(connections);
    } finally {
      vi.useRealTimers();
    }
  });

  test('of a connection that was up lets it connect again, and load everything again', async () => {
    const asked = serve(() => answered());
    const sockets = serveSockets(({ type }, socket) => {
      if (type === 'connection_init') socket.onmessage({ data: '{"type":"connection_ack"}' });
    });
    const viewport = open({ live: true });
    const errors = new Set<unknown>();
    viewport.subscribe(({ error }) => void errors.add(error));
    viewport.view(HERE, 9);
    // Those of before the connection are loaded again, too.
    await expect.poll(() => asked.length > 0 && !viewport.state.loading, WAIT).toBe(true);
    const before = asked.length;
    sockets[0]?.close(4403, 'the access rules have changed: connect again');
    await expect.poll(() => [sockets.length, asked.length > before], WAIT).toEqual([2, true]);
    expect([...errors]).toEqual([null]);
  });

  test('that only a sign-in ends is reported at once', async () => {
    serve(() => answered());
    const sockets = serveSockets((_message, socket) => socket.close(4401, 'the API key has expired'));
    const viewport = open({ live: true, headers: { 'x-api-key': 'cpk_' } });
    const errors: unknown[] = [];
    viewport.subscribe(({ error }) => void errors.push(error));
    viewport.view(HERE, 9);
    const error = { code: 'UNAUTHENTICATED', message: 'the API key has expired' };
    await expect.poll(() => errors, WAIT).toContainEqual(expect.objectContaining(error));
    expect(sockets).toHaveLength(1);
  });
});

test('what was loaded before the changes that a new connection knows of is loaded again', async () => {
  const asked = serve(() => answered());
  const now = Date.now();
  const lost = { changesFrom: new Date(now).toISOString(), now: new Date(now).toISOString() };
  let payload: object = { ...lost, changesFrom: new Date(now - 60_000).toISOString() };
  const sockets = serveSockets(({ type }, socket) => {
    if (type === 'connection_init') socket.onmessage({ data: JSON.stringify({ type: 'connection_ack', payload }) });
  });
  const viewport = open({ live: true });
  viewport.view(HERE, 9);
  await expect.poll(() => asked.length === 1 && !viewport.state.loading, WAIT).toBe(true);
  // The server has started again, and knows nothing of what changed before.
  payload = lost;
  sockets[0]?.close(1006);
  await expect.poll(() => [sockets.length, asked.length], WAIT).toEqual([2, 2]);
});

test('view() opens a viewport again that was closed, as an effect of React does in strict mode', async () => {
  const asked = serve(() => answered());
  const sockets = serveSockets(() => undefined);
  const viewport = open({ live: true });
  viewport.view(HERE, 9);
  viewport.close();
  expect(viewport.state.loading).toBe(false);
  viewport.view(HERE, 9);
  await expect.poll(() => asked.length, WAIT).toBe(1);
  viewport.close();
  // What changed meanwhile is not known.
  viewport.view(HERE, 9);
  await expect.poll(() => [asked.length, viewport.state.loading], WAIT).toEqual([2, false]);
  expect(sockets.map(({ isClosed }) => isClosed)).toEqual([true, false]);
});

describe('unwrap', () => {
  const at = (key: string, lng: number) => ({ id: key, key, name: null, category: null, position: { lng, lat: 0 }, properties: {} }); // prettier-ignore
  const DATE_LINE = { west: 175, south: -5, east: 185, north: 5 };

  test('draws what is beyond the antimeridian where the view shows it, and draws it again a turn later', async () => {
    const markers = [at('fiji', 178), at('samoa', -172), at('line', 180)];
    serve(() => answered({ ...EMPTY, markers }));
    const shownAt = (viewport: Viewport) => () =>
      Object.fromEntries(viewport.state.markers.map(({ key, position }) => [key, position.lng]));
    const viewport = open({ unwrap: true });
    viewport.view(DATE_LINE, 5);
    await expect.poll(shownAt(viewport), WAIT).toEqual({ fiji: 178, samoa: 188, line: 180 });
    viewport.view({ ...DATE_LINE, west: -185, east: -175 }, 5);
    expect(shownAt(viewport)()).toEqual({ fiji: -182, samoa: -172, line: -180 });
    const { markers: drawn } = viewport.state;
    viewport.view({ ...DATE_LINE, west: -184, east: -174 }, 5);
    expect(viewport.state.markers).toBe(drawn);
    const wrapped = open();
    wrapped.view(DATE_LINE, 5);
    await expect.poll(shownAt(wrapped), WAIT).toEqual({ fiji: 178, samoa: -172, line: 180 });
  });

  test('moves cells, and both parts of a zone that is cut at the antimeridian', async () => {
    const ring = (west: number, east: number) => [[[east, 0], [east, 1], [west, 1], [east, 0]]]; // prettier-ignore
    const zone = {
      id: 'z',
      key: 'z',
      name: null,
      properties: {},
      geometry: { type: 'MultiPolygon', coordinates: [ring(178, 180), ring(-180, -179)] },
    };
    const pageInfo = { hasNextPage: false, endCursor: null };
    serve(() => answered({ nodes: [zone, { ...zone, id: 'none', geometry: null }], pageInfo }));
    const zones = open({ unwrap: true, content: 'zones' });
    zones.view(DATE_LINE, 5);
    await expect
      .poll(() => zones.state.zones.map(({ geometry }) => geometry), WAIT)
      .toEqual([{ type: 'MultiPolygon', coordinates: [ring(178, 180), ring(180, 181)] }, null]);
    const cell = (west: number) => ({
      geohash: `${west}`,
      count: 1,
      bounds: { west, south: 0, east: west + 5, north: 5 },
    });
    serve(() => answered([cell(175), cell(-180)]));
    const cells = open({ unwrap: true, content: 'cells' });
    cells.view(DATE_LINE, 5);
    await expect
      .poll(() => cells.state.cells.map(({ bounds }) => [bounds.west, bounds.east]), WAIT)
      .toEqual([[175, 180], [180, 185]]); // prettier-ignore
  });
});
