import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createDatabase } from '../../src/store/create-database.js';
import { injectFaults, interceptCalls } from '../support/faults.js';
import { postQuery } from '../support/post-query.js';
import { closedPort } from '../support/proxy.js';
import { recordCalls } from '../support/record-calls.js';
import { engine, testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const tables = await testDatabase();
await testCollection(tables, { key: 'parks', name: 'Parks' });

/** A database over the file's tables with its own client, so that faults in one do not affect the others. */
const database = (endpoint = engine().endpoint, giveUpAfterMs = 3_000) =>
  createDatabase({ ...engine(), endpoint, tables: tables.tables, keyStyle: 'readable', giveUpAfterMs });

/** A proxy of DynamoDB Local that can be closed and opened again. */
async function openGate() {
  const target = new URL(engine().endpoint);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const port = closedPort();
  const open = async () => {
    server = createServer((socket) => {
      const through = connect(Number(target.port), target.hostname);
      for (const end of [socket, through]) {
        sockets.add(end);
        end.on('error', () => end.destroy());
        end.on('close', () => sockets.delete(end));
      }
      socket.pipe(through).pipe(socket);
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  const shut = async () => {
    const closed = new Promise((done) => server?.close(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await open();
  return { endpoint: `http://127.0.0.1:${port}`, open, shut };
}

/** Resolves with the reason when the next command of this database is aborted. */
function stopReason({ client }: ReturnType<typeof database>): Promise<unknown> {
  return new Promise((resolve) => {
    const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(client, {
      send: (command: unknown, options: { abortSignal: AbortSignal }) => {
        options.abortSignal.addEventListener('abort', () => resolve(options.abortSignal.reason));
        return send(command, options);
      },
    });
  });
}

const servers: LiveServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serverOn(...args: Parameters<typeof startServer>): Promise<LiveServer> {
  const server = await startServer(...args);
  servers.push(server);
  return server;
}

const READ = '{collections {nodes {key}} collection(key: "parks") {name}}';
const WRITE = `mutation {createMarker(input: {collection: "parks", key: "one", position: {lng: 1, lat: 2}}) {key}}`;
const ready = async (server: LiveServer) => {
  const response = await fetch(`${server.url}/readyz`);
  return { status: response.status, ...((await response.json()) as { ready: boolean; reasons: string[] }) };
};

describe('while DynamoDB is unavailable', () => {
  test('every request fails with UNAVAILABLE, /readyz says why, and the server recovers without a restart', async () => {
    const gate = await openGate();
    afterAll(() => gate.shut());
    const server = await serverOn(database(gate.endpoint));
    expect((await server.ask(READ)).errors).toEqual([]);
    expect(await ready(server)).toMatchObject({ status: 200, ready: true, reasons: [] });

    await gate.shut();
    // With a key that is in none of the server's caches.
    const read = await server.ask('{collections {nodes {key}} other: collection(key: "huts") {name}}');
    expect(read.errors.length).toBeGreaterThan(0);
    for (const error of read.errors) expect(error.extensions['code']).toBe('UNAVAILABLE');
    expect((await server.ask(WRITE)).errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
    expect(await ready(server)).toMatchObject({ status: 503, ready: false, reasons: [expect.stringMatching(/\w/)] });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

    await gate.open();
    expect((await server.ask(READ)).errors).toEqual([]);
    expect((await server.ask(WRITE)).errors).toEqual([]);
    expect(await ready(server)).toMatchObject({ status: 200, ready: true });
    // The log has the cause for operators; clients only get what they can act on.
    expect(server.logged.some(({ level, fields }) => level === 'warn' && fields['err'] !== undefined)).toBe(true);
    expect(JSON.stringify(read.errors)).not.toMatch(/127\.0\.0\.1|ECONN|node_modules/);
  });

  test('a missing table is UNAVAILABLE, too', async () => {
    const db = createDatabase({ ...engine(), tables: { entities: 'gone', derived: 'gone-too' }, keyStyle: 'readable' });
    const server = await serverOn(db);
    expect((await server.ask('{collections {nodes {key}}}')).errors).toMatchObject([
      { extensions: { code: 'UNAVAILABLE' } },
    ]);
    expect(await ready(server)).toMatchObject({
      status: 503,
      reasons: [expect.stringContaining('a table does not exist')],
    });
  });
});

describe('while DynamoDB throttles', () => {
  test('briefly, no client notices', async () => {
    const db = database();
    const faults = injectFaults(db, 'Query', ['throttled', 'throttled']);
    const server = await serverOn(db);
    expect((await server.ask('{collections {nodes {key}}}')).errors).toEqual([]);
    expect(faults.met).toBe(2);
  });

  test('persistently, requests fail with THROTTLED and say when to retry', async () => {
    const db = database(undefined, 60_000);
    injectFaults(db, 'Query', 'throttled');
    injectFaults(db, 'PutItem', 'throttled');
    const server = await serverOn(db);
    const [read, write] = await Promise.all([server.ask('{collections {nodes {key}}}'), server.ask(WRITE)]);
    for (const { errors } of [read, write]) {
      expect(errors).toMatchObject([{ extensions: { code: 'THROTTLED', retryAfterMs: expect.any(Number) } }]);
    }
  });
});

describe('the deadline', () => {
  test('fails requests that wait for DynamoDB with UNAVAILABLE, and aborts the calls', async () => {
    const db = database(undefined, 60_000);
    const stopped = stopReason(db);
    interceptCalls(db, 'Query', () => new Promise(() => undefined));
    const server = await serverOn(db, { limits: { deadlineMs: 500 } });
    const { status, data, errors } = await server.ask('{nodes(ids: ["nothing"]) {id} collections {nodes {key}}}');
    expect(errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE', deadlineMs: 500 }, path: ['collections'] }]);
    expect(await stopped).toMatchObject({ code: 'UNAVAILABLE' });
    // `collections` must not be null, so data is null; the request itself was valid.
    expect([status, data]).toEqual([200, null]);
  });

  test('applies even to a read that ignores the signal', async () => {
    const db = database();
    const server = await serverOn(db, { limits: { deadlineMs: 300 } });
    Object.assign(server.services.db, { client: { send: () => new Promise(() => undefined) } });
    const { status, errors } = await server.ask('{collections {nodes {key}}}', {}, { 'x-cellport-cost': '1' });
    expect(errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE', deadlineMs: 300 } }]);
    expect([200, 503]).toContain(status);
  });
});

describe('a client that disconnects', () => {
  let db: ReturnType<typeof database>;
  beforeEach(() => {
    db = database(undefined, 60_000);
  });

  /** Sends a query, disconnects once DynamoDB is called, and returns the signal that the command got. */
  async function hangUp(server: LiveServer, query: string, operation: string): Promise<void> {
    const abort = new AbortController();
    const asked = new Promise<void>((resolve) => {
      db.client.middlewareStack.add(
        (next, context) => (args) => {
          if (context.commandName === `${operation}Command`) resolve();
          return next(args);
        },
        { step: 'initialize', priority: 'high' },
      );
    });
    const answer = postQuery(server.url, query, { signal: abort.signal });
    await asked;
    abort.abort();
    await expect(answer).rejects.toThrow('aborted');
  }

  test('aborts its reads, and nothing is logged', async () => {
    const ended = stopReason(db);
    interceptCalls(db, 'Query', () => new Promise(() => undefined));
    const server = await serverOn(db);
    await hangUp(server, '{collections {nodes {key}}}', 'Query');
    expect(String(await ended)).toContain('the client has disconnected');
    expect(server.logged).toEqual([]);
  });

  test('does not abort its write, which completes', async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const written = new Promise<void>((resolve) => {
      interceptCalls(db, 'PutItem', async (input, ask) => {
        await held;
        const output = await ask(input);
        resolve();
        return output;
      });
    });
    const server = await serverOn(db);
    const query =
      'mutation {createMarker(input: {collection: "parks", key: "left", position: {lng: 1, lat: 2}}) {key}}';
    await hangUp(server, query, 'PutItem');
    goOn();
    await written;
    expect((await server.ask('{collection(key: "parks") {marker(key: "left") {key}}}')).data.collection.marker).toEqual(
      { key: 'left' },
    );
  });
});

describe('an unexpected error', () => {
  test('is masked, and logged with its cause', async () => {
    const db = database();
    interceptCalls(db, 'Query', async () => {
      throw new Error('the secret plan of table cellport-prod');
    });
    const server = await serverOn(db);
    const { errors } = await server.ask('{collections {nodes {key}}}');
    expect(errors).toEqual([
      {
        message: 'Internal server error',
        path: ['collections'],
        locations: [{ line: 1, column: 2 }],
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      },
    ]);
    expect(server.logged).toMatchObject([
      { level: 'error', fields: { err: { message: expect.stringContaining('secret plan') } } },
    ]);
  });

  test('is not caused by a rejected document, which makes no calls to DynamoDB', async () => {
    const db = database();
    const server = await serverOn(db);
    const sent = recordCalls(db);
    await server.ask(`{${'collections {nodes {key}}'.repeat(400)}}`);
    await server.ask('{collections {nodes {nothing}}}');
    await server.ask(
      '{nodes(ids: []) {... on Collection {a: markers(first: 5000) {nodes {collection {markers(first: 5000) {nodes {key}}}}}}}}',
    );
    expect(sent.count()).toBe(0);
  });
});
