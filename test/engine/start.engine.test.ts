import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';

import { prepareDatabaseFile } from '../../src/engine/database-file.js';
import { isCopyInUse } from '../../src/engine/keeper-file.js';
import type * as engineModule from '../../src/engine/start.js';
import type { Engine } from '../../src/engine/start.js';
import { removeFolder } from '../support/remove-folder.js';
import { runsAll } from '../support/rounds.js';

const compiled = inject('compiled');
const { startEngine } = (await import(join(compiled, 'src/engine/start.js'))) as typeof engineModule;

type Line = Readonly<Record<string, unknown>>;

const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function newFolder(name = 'cellport-engine-'): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  cleanups.push(async () => {
    await untilGone(folder);
    await removeFolder(folder);
  });
  return folder;
}

async function start(dataDir: string | null): Promise<Engine> {
  const engine = await startEngine({ dataDir });
  cleanups.push(() => engine.close());
  return engine;
}

/** The Java processes that run on this folder. */
function javaOn(folder: string): number[] {
  return execFileSync('ps', ['-eo', 'pid=,args=', '-ww'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('DynamoDBLocal.jar') && line.includes(folder))
    .map((line) => Number.parseInt(line, 10));
}

/** Waits until none runs. Asked more often, `ps` would keep a core busy. */
const untilGone = (folder: string) =>
  vi.waitFor(() => expect(javaOn(folder)).toEqual([]), { timeout: 20_000, interval: 200 });

/** The keeper's own process: the parent of its Java. */
function keeperOf(folder: string): number {
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(javaOn(folder)[0])], { encoding: 'utf8' }));
}

interface User {
  readonly process: ChildProcess;
  readonly lines: Line[];
  said(this: void, key: string): Promise<Line>;
}

/** Starts a process that uses an engine; `under` is a command that runs it. */
function user(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  under: readonly string[] = [],
): User {
  const [command = process.execPath, ...all] = [
    ...under,
    process.execPath,
    join(compiled, 'test/engine/user.js'),
    ...args,
  ];
  const child = spawn(command, all, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, ...environment },
  });
  cleanups.push(() => void child.kill('SIGKILL'));
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line));
  const said = (key: string) =>
    vi.waitFor(
      () => {
        const line = lines.find((candidate) => key in candidate || 'error' in candidate);
        expect(line, `a line with ${key}`).toBeDefined();
        return line ?? {};
      },
      { timeout: 40_000, interval: 20 },
    );
  return { process: child, lines, said };
}

function clientOf(engine: Pick<Engine, 'endpoint' | 'region' | 'credentials'>): DynamoDBClient {
  const client = new DynamoDBClient({ ...engine, maxAttempts: 10 });
  cleanups.push(() => client.destroy());
  return client;
}

async function makeRows(engine: Engine): Promise<DynamoDBClient> {
  const client = clientOf(engine);
  await client.send(
    new CreateTableCommand({
      TableName: 'rows',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    }),
  );
  return client;
}

async function missing(client: DynamoDBClient, numbers: readonly number[]): Promise<number[]> {
  const lost: number[] = [];
  for (const n of numbers) {
    const { Item } = await client.send(new GetItemCommand({ TableName: 'rows', Key: { pk: { S: String(n) } } }));
    if (Item === undefined) lost.push(n);
  }
  return lost;
}

const numbersOf = ({ lines }: User, key: string) => lines.flatMap((line) => (key in line ? [Number(line[key])] : []));
const acknowledged = (writer: User) => numbersOf(writer, 'acknowledged');

describe('the embedded engine', () => {
  test('its database has a write-ahead log, or a rollback journal on network file systems', () => {
    const folder = newFolder();
    const journal = (name: string) => [...readFileSync(join(folder, name)).subarray(18, 20)];
    prepareDatabaseFile(join(folder, 'local.db'));
    prepareDatabaseFile(join(folder, 'local.db'), 0x6969);
    prepareDatabaseFile(join(folder, 'remote.db'), 0x6969);
    expect([journal('local.db'), journal('remote.db')]).toEqual([
      [2, 2],
      [1, 1],
    ]);
  });

  test('a process killed while Java is starting leaves no Java behind', async () => {
    const folder = newFolder();
    const only = user([folder]);
    await vi.waitFor(() => expect(javaOn(folder)).toHaveLength(1), { timeout: 40_000, interval: 10 });
    only.process.kill('SIGKILL');
    await untilGone(folder);
  });

  test('processes that start simultaneously on one folder share one engine, which runs until the last one is killed, whatever Ctrl-C does', async () => {
    const folder = newFolder();
    const users = [user([folder]), user([folder]), user([folder])];
    const endpoints = await Promise.all(users.map(async (each) => (await each.said('endpoint'))['endpoint']));
    expect(new Set(endpoints).size).toBe(1);
    const [java] = javaOn(folder);
    // Like a terminal: the signal goes to the whole process group, of which the one that started Java was.
    for (const { process: { pid = 0 } } of users) process.kill(-pid, 'SIGINT'); // prettier-ignore
    await Promise.all(users.map((each) => each.said('interrupted')));
    users[0]?.process.kill('SIGKILL');
    const engine = await start(folder);
    users[1]?.process.kill('SIGKILL');
    expect(engine.endpoint).toBe(endpoints[0]);
    await clientOf(engine).send(new ListTablesCommand({}));
    expect(javaOn(folder)).toEqual([java]);
    await engine.close();
    expect(javaOn(folder)).toEqual([java]);
    users[2]?.process.kill('SIGKILL');
    await untilGone(folder);
  });

  test.runIf(runsAll)(
    'acknowledged writes survive a kill of the writer, of Java and of the keeper, and the writer continues',
    async () => {
      const folder = newFolder();
      const engine = await start(folder);
      const client = await makeRows(engine);
      const writer = user([folder, 'write']);
      const grows = async (by: number) => {
        const before = acknowledged(writer).length;
        await vi.waitFor(() => expect(acknowledged(writer).length).toBeGreaterThan(before + by), { timeout: 150_000 });
      };
      const killed = async (victim: number) => {
        const java = javaOn(folder);
        process.kill(victim, 'SIGKILL');
        await vi.waitFor(
          () => {
            expect(javaOn(folder)).toHaveLength(1);
            expect(javaOn(folder)).not.toEqual(java);
          },
          { timeout: 150_000, interval: 200 },
        );
        // The new process answers.
        await grows(5);
      };
      await grows(5);
      await killed(javaOn(folder)[0] ?? 0);
      expect(await missing(client, acknowledged(writer))).toEqual([]);
      await killed(keeperOf(folder));
      writer.process.kill('SIGKILL');
      const rows = acknowledged(writer);
      await engine.close();
      await untilGone(folder);
      expect(await missing(clientOf(await start(folder)), rows)).toEqual([]);
    },
  );

  // Files of at most 2 MB fail like those of a full or a broken disk, without one.
  test.runIf(process.platform === 'linux' && runsAll)(
    'a transaction that cannot be committed is not acknowledged, and later writes depend on nothing that it left',
    async () => {
      const folder = newFolder();
      const writer = user([folder, 'transact'], {}, ['bash', '-c', 'ulimit -f 2048; exec "$@"', 'bash']);
      await writer.said('endpoint');
      const engine = await start(folder);
      const client = await makeRows(engine);
      await vi.waitFor(
        () => expect(Math.max(...numbersOf(writer, 'refused'), ...acknowledged(writer))).toBeGreaterThan(400),
        {
          timeout: 120_000,
        },
      );
      writer.process.kill('SIGKILL');
      expect(acknowledged(writer).length).toBeGreaterThan(0);
      expect(await missing(client, acknowledged(writer))).toEqual([]);
      expect(numbersOf(writer, 'refused').length).toBeGreaterThan(0);
      await engine.close();
      await untilGone(folder);

      const again = await start(folder);
      const roomy = clientOf(again);
      expect(await missing(roomy, acknowledged(writer))).toEqual([]);
      await roomy.send(new PutItemCommand({ TableName: 'rows', Item: { pk: { S: 'later' } } }));
    },
  );

  test.runIf(runsAll)(
    'a copy of a folder that is in use has its own engine, and neither changes the other',
    async () => {
      const original = join(newFolder(), 'data');
      const copy = join(newFolder(), 'data');
      const engine = await start(original);
      const client = await makeRows(engine);
      const put = (n: number) => new PutItemCommand({ TableName: 'rows', Item: { pk: { S: String(n) } } });
      await client.send(put(1));
      cpSync(original, copy, { recursive: true });
      // What was copied at another moment than the database.
      for (const name of ['rows-1.search', 'rows-1.search-wal', 'imports', 'kept.txt'])
        writeFileSync(join(copy, name), '');
      expect([isCopyInUse(original), isCopyInUse(copy)]).toEqual([false, true]);

      const copied = await start(copy);
      expect(copied.endpoint).not.toBe(engine.endpoint);
      const copyClient = clientOf(copied);
      await copyClient.send(put(2));
      await client.send(put(3));
      expect([await missing(client, [1, 2, 3]), await missing(copyClient, [1, 2, 3])]).toEqual([[2], [3]]);
      expect(readdirSync(copy).sort()).toEqual(['access-key', 'dynamodb', 'kept.txt', 'keeper.json', 'reserve'].sort());
      expect(isCopyInUse(copy)).toBe(false);
      // The process ID in the copied file is that of the original's Java.
      expect([javaOn(original).length, javaOn(copy).length]).toEqual([1, 1]);
    },
  );

  test.runIf(runsAll)('every path to one folder leads to the same engine, also while it is being moved', async () => {
    const parent = newFolder();
    const folder = join(parent, 'data');
    const engine = await start(folder);
    symlinkSync(folder, join(parent, 'link'));
    expect((await start(join(parent, 'link'))).endpoint).toBe(engine.endpoint);
    renameSync(folder, join(parent, 'moved'));
    expect((await start(join(parent, 'moved'))).endpoint).toBe(engine.endpoint);
    // Another folder in its place is another folder, whether it has a copy of the file or not.
    cpSync(join(parent, 'moved'), folder, { recursive: true });
    expect((await start(folder)).endpoint).not.toBe(engine.endpoint);
  });

  test('an engine can be restarted right after it was closed, with its data, visible only with its access key', async () => {
    const folder = newFolder();
    const first = await start(folder);
    const client = await makeRows(first);
    await client.send(new PutItemCommand({ TableName: 'rows', Item: { pk: { S: '1' } } }));
    await first.close();
    const second = await start(folder);
    expect(second.credentials.accessKeyId).toBe(first.credentials.accessKeyId);
    expect(await missing(clientOf(second), [1])).toEqual([]);
    expect(javaOn(folder)).toHaveLength(1);

    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => (statSync(join(folder, name)).mode & 0o77) !== 0)).toEqual([]);
    const stranger = clientOf({ ...second, credentials: { accessKeyId: 'other', secretAccessKey: 'other' } });
    expect((await clientOf(second).send(new ListTablesCommand({}))).TableNames).toEqual(['rows']);
    expect((await stranger.send(new ListTablesCommand({}))).TableNames).toEqual([]);
    await expect(stranger.send(new PutItemCommand({ TableName: 'rows', Item: { pk: { S: '1' } } }))).rejects.toThrow(
      /non-existent/,
    );
    await second.close();
    await untilGone(folder);
    const copy = join(newFolder(), 'data');
    cpSync(folder, copy, { recursive: true });
    // Nobody used what was copied.
    expect(isCopyInUse(copy)).toBe(false);
  });

  test('neither another program on the port of a keeper file nor another process with its process ID blocks a start', async () => {
    const folder = newFolder();
    const stranger = createServer((socket) => socket.end('220 hello\r\n').on('error', () => undefined));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => void stranger.close());
    const address = stranger.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    writeFileSync(join(folder, 'keeper.json'), JSON.stringify({ port, token: 'x', java: { pid: process.pid } }));
    expect((await clientOf(await start(folder)).send(new ListTablesCommand({}))).TableNames).toEqual([]);
  });

  test.runIf(runsAll)('a long path with spaces works as a data folder, with a damaged keeper file in it', async () => {
    const folder = join(newFolder(), 'a folder whose name is longer than a socket path may be '.repeat(3).trim());
    mkdirSync(folder);
    writeFileSync(join(folder, 'keeper.json'), '{"port":');
    expect((await clientOf(await start(folder)).send(new ListTablesCommand({}))).TableNames).toEqual([]);
    expect(readFileSync(join(folder, 'access-key'), 'utf8')).toMatch(/^[A-Za-z0-9]{20,}\n$/);
  });

  test('without Java, a single message says what to install', async () => {
    const { error } = await user([newFolder()], { PATH: '' }).said('endpoint');
    expect(error).toMatch(/needs Java 17 or newer.*docker compose up/);
  });

  test('in-memory engines are not shared between processes', async () => {
    // The engine of the test run belongs to another process.
    expect((await start(null)).endpoint).not.toBe(inject('engine').endpoint);
  });
});
