import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { CellportError } from '../../src/errors.js';
import { compiling } from '../../src/graphql/execution/executor.js';
import { markerReader } from '../../src/ingest/markers/marker-reader.js';
import { readingReader } from '../../src/ingest/readings/reading-row.js';
import { zoneReader } from '../../src/ingest/zones/zone-row.js';
import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import { startServer, type LiveServer } from '../http/live-server.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { removeFolder } from '../support/remove-folder.js';
import { rounds } from '../support/rounds.js';
import { testCollection } from '../support/test-database.js';
import { expectNoFault, NO_TIMEOUT, report, SEED } from './faults.js';
import { fileInput, httpInput, socketInput, type HttpInput } from './raw-inputs.js';
import { choosing } from './values.js';

const ROUNDS = rounds('fuzzedInputs');
const INTERNAL_ERROR = [1011, 4500];

/** Calls `round` with a seed for each round, several at once. */
async function eachSeed(concurrent: number, round: (seed: number) => Promise<void>): Promise<void> {
  let next = SEED;
  const one = async () => {
    while (next < SEED + ROUNDS) await round(next++);
  };
  await Promise.all(Array.from({ length: concurrent }, one));
}

describe('the server answers', () => {
  const db = memoryDatabase();
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let server: LiveServer;
  beforeAll(async () => {
    const live = new LiveHub({ keys: db.keys, log: silentLog, clock: db.clock });
    server = await startServer(db, {
      live: Object.assign(live, { recentFrom: async () => undefined }),
      executor: (of) => compiling(of, { runsBefore: 0 }),
    });
    await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z');
  });
  afterAll(async () => {
    agent.destroy();
    await server.close();
  });

  const send = ({ method, path, headers, body }: HttpInput) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(new URL(server.url), { method, path, headers, agent, timeout: 20_000 }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => {
          pieces.push(piece);
          // An event stream that has started would not end.
          if (piece.toString() === ':\n\n' && pieces.length > 1) sent.destroy();
        });
        const done = () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() });
        response.on('end', done).on('close', done);
      });
      sent.on('timeout', () => reject(new Error('no answer within 20 s')));
      // The server closes a connection when it refuses a body before all of it has been sent.
      sent.on('error', ({ code, message }: NodeJS.ErrnoException) =>
        code === 'ECONNRESET' || code === 'EPIPE' ? resolve({ status: 0, text: '' }) : reject(new Error(message)),
      );
      sent.on('socket', (socket) => socket.listenerCount('error') < 5 && socket.on('error', () => undefined));
      sent.end(body);
    });

  test(
    'any HTTP request without an internal error',
    async () => {
      const statuses = new Map<string, number>();
      await eachSeed(8, async (seed) => {
        const random = randomFrom(seed);
        const input = httpInput(choosing(random), random);
        const { status, text } = await send(input).catch((error: unknown) => {
          throw new Error(`seed ${seed}: ${JSON.stringify(input).slice(0, 2_000)}`, { cause: error });
        });
        expectNoFault({ seed, sent: input, status, text, logged: server.logged });
        statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
      });
      report('HTTP requests, and as many WebSockets and files', ROUNDS, statuses);
    },
    NO_TIMEOUT,
  );

  test(
    'any messages on a WebSocket without an internal error',
    async () => {
      await eachSeed(8, async (seed) => {
        const messages = socketInput(choosing(randomFrom(seed)));
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
        const received: string[] = [];
        socket.on('message', (data: Buffer) => received.push(data.toString()));
        await once(socket, 'open');
        for (const message of messages) socket.send(message);
        // Answered when all messages have been read, unless one of them has closed the connection.
        socket.ping();
        const [code] = (await Promise.race([once(socket, 'close'), once(socket, 'pong')])) as [number | Buffer];
        socket.terminate();
        const isInternal = typeof code === 'number' && INTERNAL_ERROR.includes(code);
        expectNoFault({
          seed,
          sent: messages,
          status: isInternal ? 500 : 200,
          text: received.join('\n'),
          logged: server.logged,
        });
      });
    },
    NO_TIMEOUT,
  );

  test('a valid request after all of these', async () => {
    expect((await server.ask('{collection(key: "parks") {key}}')).data).toEqual({ collection: { key: 'parks' } });
  });
});

describe('an import', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellport-fuzz-'));
  });
  afterAll(() => removeFolder(folder));

  const READERS = { markerReader, zoneReader, readingReader };

  test(
    'reads any file row by row, or reports what is wrong with it',
    async () => {
      await eachSeed(4, async (seed) => {
        const { format, bytes } = fileInput(choosing(randomFrom(seed)));
        const path = join(folder, `${seed}.${format}`);
        await writeFile(path, bytes);
        for (const [name, open] of Object.entries(READERS)) {
          try {
            for await (const rows of open(path, format, {}).rows()) expect(rows).toBeInstanceOf(Array);
          } catch (error) {
            if (error instanceof CellportError) continue;
            throw new Error(`seed ${seed}: ${name} of ${format}: ${bytes.toString().slice(0, 2_000)}`, {
              cause: error,
            });
          }
        }
        await rm(path);
      });
    },
    NO_TIMEOUT,
  );
});
