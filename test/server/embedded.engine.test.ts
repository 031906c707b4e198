import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { postQuery } from '../support/post-query.js';
import { runsAll } from '../support/rounds.js';
import { runCli, type RunningCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const RECOVERS_WITHIN_MS = 30_000;

const folder = temporaryFolder();
let server: RunningCli;
let url = '';
let squatter: Server | undefined;

beforeAll(async () => {
  server = runCli(['serve'], { CELLPORT_DATA_DIR: folder, PORT: '0' });
  url = await server.serving();
  await ask('mutation { createCollection(input: { key: "parks", name: "Parks" }) { key } }');
});

afterAll(async () => {
  squatter?.close();
  server.child.kill('SIGTERM');
  await server.ended;
  while (engines().length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
});

interface Answer {
  readonly data?: { readonly collection?: { readonly count: number; readonly countsExact: boolean } } | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

const ask = async (query: string) => (await (await postQuery(url, query)).json()) as Answer;

const create = (key: string) =>
  ask(`mutation { createMarker(input: { collection: "parks", key: "${key}", position: { lng: 1, lat: 2 } }) { key } }`);

/** Every Java on this folder, with its keeper. */
function engines(): { java: number; keeper: number }[] {
  return execFileSync('ps', ['-eo', 'pid=,ppid=,args=', '-ww'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('DynamoDBLocal.jar') && line.includes(folder))
    .map((line) => line.trim().split(/ +/))
    .map(([java, keeper]) => ({ java: Number(java), keeper: Number(keeper) }));
}

function portOf(pid: number): number {
  const args = execFileSync('ps', ['-o', 'args=', '-ww', '-p', String(pid)], { encoding: 'utf8' });
  return Number(/-port (\d+)/.exec(args)?.[1]);
}

/** Writes until it succeeds; returns the codes of all failures. */
async function writeThrough(key: string): Promise<Set<string>> {
  const codes = new Set<string>();
  const deadline = performance.now() + RECOVERS_WITHIN_MS;
  for (;;) {
    const { errors } = await create(key);
    // A conflict with an attempt that succeeded although its response was lost.
    const isDone = codes.size > 0 && errors?.every(({ extensions }) => extensions.code === 'CONFLICT');
    if (errors === undefined || isDone) return codes;
    for (const { extensions } of errors) codes.add(extensions.code);
    if (performance.now() > deadline) throw new Error(`no write in ${RECOVERS_WITHIN_MS} ms: ${[...codes].join()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waits until this many markers are counted. */
const untilCounted = (count: number) =>
  vi.waitFor(
    async () => {
      const { data } = await ask('{ collection(key: "parks") { count countsExact } }');
      expect(data).toEqual({ collection: { count, countsExact: true } });
    },
    { timeout: RECOVERS_WITHIN_MS },
  );

/** Takes the port as soon as it is free. */
async function squat(port: number): Promise<Server> {
  for (;;) {
    const taken = createServer((socket) => socket.destroy());
    const listening = await new Promise((resolve) => {
      taken.once('error', () => resolve(false));
      taken.listen(port, () => resolve(true));
    });
    if (listening === true) return taken;
  }
}

test('a server whose keeper is killed writes and reads again within 30 s, on the same port, with all acknowledged data', async () => {
  const [engine] = engines();
  const port = portOf(engine!.java);
  await create('before');
  // Clients that keep reconnecting must not be assigned the engine's port, which is below the range for connections.
  expect(port).toBeLessThan(32_768);
  const hammering = Array.from({ length: 4 }, (_, n) => writeThrough(`during ${n}`));
  process.kill(engine!.keeper, 'SIGKILL');
  expect([...(await writeThrough('after'))].filter((code) => code !== 'UNAVAILABLE')).toEqual([]);
  await Promise.all(hammering);
  await untilCounted(6);
  const [next] = engines();
  expect(next?.java).not.toBe(engine!.java);
  expect(portOf(next!.java)).toBe(port);
});

test.runIf(runsAll)('so does one whose engine returns on another port', async () => {
  const [engine] = engines();
  const port = portOf(engine!.java);
  process.kill(engine!.keeper, 'SIGKILL');
  process.kill(engine!.java, 'SIGKILL');
  squatter = await squat(port);
  expect([...(await writeThrough('again'))].filter((code) => code !== 'UNAVAILABLE')).toEqual([]);
  await untilCounted(7);
  const [next] = engines();
  expect(portOf(next!.java)).not.toBe(port);
  const { java } = JSON.parse(readFileSync(join(folder, 'keeper.json'), 'utf8')) as { java: { pid: number } };
  expect(java.pid).toBe(next?.java);
});

test('disabling and enabling the stream leaves a gap, which the server closes automatically', async () => {
  const accessKeyId = readFileSync(join(folder, 'access-key'), 'utf8').trim();
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${portOf(engines()[0]!.java)}`,
    region: 'local',
    credentials: { accessKeyId, secretAccessKey: accessKeyId },
  });
  const stream = (specification: object) =>
    client.send(
      new UpdateTableCommand({
        TableName: 'cellport',
        StreamSpecification: { StreamEnabled: false, ...specification },
      }),
    );
  const before = (await ask('{ collection(key: "parks") { count } }')).data?.collection?.count ?? 0;
  await stream({});
  for (const key of ['one', 'two', 'three']) await create(key);
  await stream({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  await vi.waitFor(
    async () => {
      const answer = (await (await fetch(`${url}/readyz`)).json()) as { stream: object };
      expect(answer.stream).toMatchObject({ countsExact: false, gap: { reason: expect.stringContaining('stream') } });
    },
    { timeout: 10_000, interval: 20 },
  );
  await untilCounted(before + 3);
  client.destroy();
});
