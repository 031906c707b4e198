/**
 * The keeper: a small process that owns the Java process of DynamoDB Local for one data folder. Every process that uses
 * the engine holds a connection to it. When the last connection closes, for whatever reason (kill -9 closes sockets too),
 * the keeper stops Java and exits. It runs in its own process group, so that Ctrl-C in a terminal stops only the server,
 * and Java keeps running until the server has stopped.
 *
 * Run as `node keeper.js [DATA_FOLDER]`; without a folder the data stays in memory.
 */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { prepareDatabaseFile } from './database-file.js';
import { type JavaEngine, startJava, stopJava } from './java.js';
import { type KeeperAddress, type KeeperAnswer, type KeeperGreeting, firstLine } from './protocol.js';

const REGION = 'local';
const FIRST_CONNECTION_WITHIN_MS = 10_000;
const ANSWERS_WITHIN_MS = 2_000;
const POLL_MS = 50;
const EARLY_EXIT_MS = 5_000;
const MAX_EARLY_EXITS = 3;

/** The file that a keeper leaves in its data folder for the next one. */
interface KeeperFile extends KeeperAddress {
  readonly java: JavaTrace | null;
}

/** The Java process and its port, which the next process uses again if it can. */
interface JavaTrace {
  readonly pid: number;
  readonly port: number;
}

function greet(greeting: KeeperGreeting): void {
  process.stdout.write(`${JSON.stringify(greeting)}\n`);
}

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;

/** The keeper file; undefined if it is missing or damaged: nothing in it is needed to start. */
function readKeeperFile(path: string): KeeperFile | undefined {
  try {
    const { port, token, java } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<string, unknown>>;
    if (!isPort(port) || typeof token !== 'string') return undefined;
    const trace: Partial<Record<string, unknown>> = typeof java === 'object' && java !== null ? java : {};
    const valid = typeof trace['pid'] === 'number' && isPort(trace['port']);
    return { port, token, java: valid ? (trace as unknown as JavaTrace) : null };
  } catch {
    return undefined;
  }
}

function writeKeeperFile(path: string, file: KeeperFile): void {
  writeFileSync(`${path}.new`, JSON.stringify(file), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Sends one line to a local port and returns the response; undefined if there is none or it is not JSON. */
async function ask<T>(port: number, question: object): Promise<T | undefined> {
  const socket = connect(port, '127.0.0.1', () => socket.write(`${JSON.stringify(question)}\n`));
  socket.setTimeout(ANSWERS_WITHIN_MS, () => socket.destroy());
  const line = await firstLine<T>(socket);
  socket.destroy();
  return line;
}

/** The keeper in the file, if it is running: only the keeper knows the token, so another program on its port fails. */
async function runningKeeper(file: string): Promise<KeeperAddress | undefined> {
  const named = readKeeperFile(file);
  if (named === undefined) return undefined;
  const answer = await ask<{ pong?: unknown }>(named.port, { ping: named.token });
  return answer?.pong === true ? { port: named.port, token: named.token } : undefined;
}

/**
 * Ports that keepers of this folder may listen on, in the order to try. They serve as the lock between processes that start
 * at the same time: the system gives a port to one process and releases it when that is killed, unlike a lock file. They
 * are below the range that systems use for outgoing connections.
 */
function candidatePorts(dataDir: string): readonly number[] {
  const hash = createHash('sha256').update(dataDir).digest();
  return Array.from({ length: 8 }, (_, index) => 20_000 + (hash.readUInt16BE(index * 2) % 12_000));
}

function listen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error);
    server.once('error', fail);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.off('error', fail);
      resolve(true);
    });
  });
}

/**
 * Makes this process the keeper of the folder, by listening on one of its ports, or returns the address of the keeper that
 * is already running.
 */
async function takeFolder(server: Server, dataDir: string, file: string): Promise<KeeperAddress | undefined> {
  for (const port of candidatePorts(dataDir)) {
    if (await listen(server, port)) return runningKeeper(file);
    const holder = await ask<{ keeperOf?: unknown }>(port, { whose: dataDir });
    // A keeper of this folder that has just started may not have written its file yet. Ports of other programs are skipped.
    for (let waited = 0; holder?.keeperOf === dataDir && waited < ANSWERS_WITHIN_MS; waited += POLL_MS) {
      const other = await runningKeeper(file);
      if (other !== undefined) return other;
      await sleep(POLL_MS);
    }
    if (holder?.keeperOf === dataDir) throw new Error('another keeper of this folder is starting or stopping; retry');
  }
  throw new Error('no free port for the keeper of the embedded DynamoDB');
}

/** The access key of a folder, created once: data in DynamoDB Local belongs to the key that wrote it. */
function accessKey(path: string): string {
  try {
    const kept = readFileSync(path, 'utf8').trim();
    if (/^[A-Za-z0-9]{16,}$/.test(kept)) return kept;
  } catch {
    // No file yet.
  }
  const made = newAccessKey();
  writeFileSync(path, `${made}\n`, { mode: 0o600 });
  return made;
}

function newAccessKey(): string {
  return `CP${randomBytes(16).toString('hex').toUpperCase()}`;
}

/** Whether a process is a DynamoDB Local on this folder, rather than another process that now has the same ID. */
function isOurJava(pid: number, dbPath: string): boolean {
  try {
    const command = execFileSync('ps', ['-o', 'command=', '-ww', '-p', String(pid)], { encoding: 'utf8' });
    return command.includes('DynamoDBLocal.jar') && command.includes(dbPath);
  } catch {
    return false;
  }
}

/** Kills a Java process that a killed keeper left running: two engines must never share a folder. */
async function killOrphan(pid: number, dbPath: string): Promise<void> {
  if (!isOurJava(pid, dbPath)) return;
  process.kill(pid, 'SIGKILL');
  while (isOurJava(pid, dbPath)) await sleep(POLL_MS);
}

async function keep(dataDir: string | undefined): Promise<void> {
  const token = randomBytes(16).toString('hex');
  const stopped = new AbortController();
  const users = new Set<Socket>();
  const waiting = new Set<Socket>();
  let answer: KeeperAnswer | undefined;
  let engine: JavaEngine | undefined;
  let starting: Promise<void> = Promise.resolve();

  const say = (socket: Socket, line: KeeperAnswer) => socket.write(`${JSON.stringify(line)}\n`);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    void firstLine<{ whose?: unknown; ping?: unknown; use?: unknown }>(socket).then((line) => {
      if (line?.whose !== undefined) return void socket.end(`${JSON.stringify({ keeperOf: dataDir })}\n`);
      // A stopping keeper still answers: until Java has ended, no other keeper may take the folder.
      if (line?.ping === token) return void socket.end('{"pong":true}\n');
      if (line?.use !== token) return void socket.destroy();
      if (stopped.signal.aborted) return void socket.end('{"state":"stopping"}\n');
      users.add(socket);
      socket.once('close', () => {
        users.delete(socket);
        waiting.delete(socket);
        if (users.size === 0) void stop();
      });
      socket.resume();
      if (answer === undefined) waiting.add(socket);
      else say(socket, answer);
      return undefined;
    });
  });

  const file = dataDir === undefined ? undefined : join(dataDir, 'keeper.json');
  if (dataDir === undefined || file === undefined) {
    if (!(await listen(server, 0))) throw new Error('no free port');
  } else {
    mkdirSync(dataDir, { recursive: true });
    const other = await takeFolder(server, dataDir, file);
    if (other !== undefined) {
      greet(other);
      process.exit(0);
    }
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  const port = address.port;
  const dbPath = dataDir === undefined ? null : join(dataDir, 'dynamodb');
  let wantedPort = 0;
  const saveTrace = (java: JavaTrace | null) => {
    if (file !== undefined) writeKeeperFile(file, { port, token, java });
  };
  if (file !== undefined && dbPath !== null) {
    const before = readKeeperFile(file)?.java ?? null;
    if (before !== null) await killOrphan(before.pid, dbPath);
    wantedPort = before?.port ?? 0;
    mkdirSync(dbPath, { recursive: true });
    saveTrace(before);
  }

  async function stop(): Promise<void> {
    if (stopped.signal.aborted) return;
    stopped.abort();
    // A Java that is still starting would outlive this process.
    await starting.catch(() => undefined);
    if (engine !== undefined) await stopJava(engine);
    // The port is our lock on the folder: it is released when this process exits. The file stays, so that the next engine
    // listens on the same port.
    process.exit(0);
  }
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  process.on('SIGTERM', () => void stop());

  greet({ port, token });
  setTimeout(() => {
    if (users.size === 0) void stop();
  }, FIRST_CONNECTION_WITHIN_MS);

  const key = dataDir === undefined ? newAccessKey() : accessKey(join(dataDir, 'access-key'));
  let earlyExits = 0;
  const start = (): Promise<void> => (starting = startEngine());
  async function startEngine(): Promise<void> {
    if (dbPath !== null) prepareDatabaseFile(dbPath, key, REGION);
    const started = await startJava(dbPath, wantedPort, stopped.signal);
    engine = started;
    wantedPort = started.port;
    saveTrace({ pid: started.process.pid ?? 0, port: started.port });
    const since = performance.now();
    started.process.once('exit', () => {
      earlyExits = performance.now() - since > EARLY_EXIT_MS ? 0 : earlyExits + 1;
      // In-memory data is lost with the process, and an engine that keeps exiting right after its start would exit again.
      const again = dbPath !== null && earlyExits < MAX_EARLY_EXITS;
      if (again && !stopped.signal.aborted) start().catch(() => stop());
      else void stop();
    });
  }
  try {
    await start();
    answer = { state: 'ready', endpoint: `http://127.0.0.1:${wantedPort}`, region: REGION, accessKey: key };
  } catch (error) {
    answer = { state: 'failed', error: error instanceof Error ? error.message : String(error) };
  }
  for (const socket of waiting) say(socket, answer);
  waiting.clear();
}

keep(process.argv[2]).catch((error: unknown) => {
  greet({ error: error instanceof Error ? error.message : String(error) });
  process.exit(1);
});
