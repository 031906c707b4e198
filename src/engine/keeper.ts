/**
 * The keeper: a small process that owns the Java process of DynamoDB Local for one data folder. Every process that uses
 * the engine holds a connection to it. When the last connection closes, for any reason (kill -9 closes sockets too),
 * the keeper stops Java and exits. It runs in its own process group, so that Ctrl-C in a terminal stops only the server,
 * and Java keeps running until the server has stopped.
 *
 * Run as `node keeper.js [DATA_FOLDER]`; without a folder the data stays in memory.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Socket, createServer } from 'node:net';
import { join } from 'node:path';

import { systemClock } from '../clock.js';
import { databaseFile, databaseFolder, prepareDatabaseFile } from './database-file.js';
import { enginePorts, listen, takeFolder } from './folder.js';
import { type JavaEngine, startJava, stopJava } from './java.js';
import { type KeeperFile, keeperFile, readKeeperFile, writeKeeperFile } from './keeper-file.js';
import { killOrphan } from './orphan.js';
import { type KeeperAnswer, type KeeperGreeting, firstLine } from './protocol.js';

const REGION = 'local';
const FIRST_CONNECTION_WITHIN_MS = 10_000;
const EARLY_EXIT_MS = 5_000;
const MAX_EARLY_EXITS = 3;

function greet(greeting: KeeperGreeting): void {
  process.stdout.write(`${JSON.stringify(greeting)}\n`);
}

const newAccessKey = () => `CP${randomBytes(16).toString('hex').toUpperCase()}`;

/** The access key of a folder, created once: data in DynamoDB Local belongs to the key that wrote it. */
function accessKey(path: string): string {
  try {
    const kept = readFileSync(path, 'utf8').trim();
    if (/^[A-Za-z0-9]{16,}$/.test(kept)) return kept;
  } catch {
    // The file does not exist yet.
  }
  const made = newAccessKey();
  writeFileSync(path, `${made}\n`, { mode: 0o600 });
  return made;
}

/** How to run the engine. */
interface EngineSettings {
  /** Null to keep the data in memory. */
  readonly dbPath: string | null;
  readonly key: string;
  /** Ports to listen on, in the order to try. */
  readonly ports: readonly number[];
  /** Called with the process ID of each Java process. */
  readonly onJava: (pid: number) => void;
}

/** An engine, and the processes that use it. */
class Keeper {
  readonly token = randomBytes(16).toString('hex');
  readonly #dataDir: string | undefined;
  readonly #stopping = new AbortController();
  readonly #users = new Set<Socket>();
  /** The answer sent to users; undefined until the engine runs or has failed. */
  #answer: KeeperAnswer | undefined;
  #engine: JavaEngine | undefined;
  #starting: Promise<void> = Promise.resolve();
  #earlyExits = 0;

  constructor(dataDir: string | undefined) {
    this.#dataDir = dataDir;
  }

  /** Answers the line with which a connection begins. */
  async take(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const line = await firstLine<{ whose?: unknown; ping?: unknown; use?: unknown }>(socket);
    if (line?.whose !== undefined) socket.end(`${JSON.stringify({ keeperOf: this.#dataDir })}\n`);
    // A stopping keeper still answers: until Java has ended, no other keeper may take over the folder.
    else if (line?.ping === this.token) socket.end('{"pong":true}\n');
    else if (line?.use !== this.token) socket.destroy();
    else if (this.#stopping.signal.aborted) socket.end('{"state":"stopping"}\n');
    else this.#addUser(socket);
  }

  #addUser(socket: Socket): void {
    this.#users.add(socket);
    socket.once('close', () => {
      this.#users.delete(socket);
      if (this.#users.size === 0) void this.stop();
    });
    socket.resume();
    if (this.#answer !== undefined) socket.write(`${JSON.stringify(this.#answer)}\n`);
  }

  #answerUsers(answer: KeeperAnswer): void {
    this.#answer = answer;
    for (const socket of this.#users) socket.write(`${JSON.stringify(answer)}\n`);
  }

  /** Runs the engine, restarting it whenever it ends, until it has no users. */
  run(settings: EngineSettings): void {
    setTimeout(() => {
      if (this.#users.size === 0) void this.stop();
    }, FIRST_CONNECTION_WITHIN_MS);
    this.#starting = this.#start(settings).catch((error: unknown) => {
      this.#answerUsers({ state: 'failed', error: error instanceof Error ? error.message : String(error) });
    });
  }

  async #start(settings: EngineSettings): Promise<void> {
    const { dbPath, key, ports, onJava } = settings;
    if (dbPath !== null) prepareDatabaseFile(databaseFile(dbPath, key, REGION));
    const engine = await startJava(dbPath, ports, this.#stopping.signal);
    const began = systemClock.now();
    this.#engine = engine;
    onJava(engine.process.pid ?? 0);
    engine.process.once('exit', () => this.#restart(settings, systemClock.now() - began));
    this.#answerUsers({ state: 'ready', endpoint: `http://127.0.0.1:${engine.port}`, region: REGION, accessKey: key });
  }

  #restart(settings: EngineSettings, ranForMs: number): void {
    this.#earlyExits = ranForMs > EARLY_EXIT_MS ? 0 : this.#earlyExits + 1;
    // In-memory data is lost with the process, and an engine that exits right after its start would do so again.
    const again = settings.dbPath !== null && this.#earlyExits < MAX_EARLY_EXITS && !this.#stopping.signal.aborted;
    if (again) this.#starting = this.#start(settings).catch(() => void this.stop());
    else void this.stop();
  }

  /** Stops the engine and ends the process, which releases the folder. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    // A Java process that is still starting would outlive this process.
    await this.#starting;
    if (this.#engine !== undefined) await stopJava(this.#engine);
    process.exit(0);
  }
}

async function keep(dataDir: string | undefined): Promise<void> {
  const keeper = new Keeper(dataDir);
  const { token } = keeper;
  const server = createServer((socket) => void keeper.take(socket));
  const file = dataDir === undefined ? undefined : keeperFile(dataDir);
  if (dataDir === undefined || file === undefined) {
    if (!(await listen(server, 0))) throw new Error('no free port');
  } else {
    mkdirSync(dataDir, { recursive: true });
    const other = await takeFolder(server, dataDir);
    if (other !== undefined) {
      greet(other);
      process.exit(0);
    }
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  const { port } = address;
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  process.on('SIGTERM', () => void keeper.stop());
  if (dataDir === undefined || file === undefined) {
    greet({ port, token });
    keeper.run({ dbPath: null, key: newAccessKey(), ports: [], onJava: () => undefined });
    return;
  }
  const dbPath = databaseFolder(dataDir);
  const save = (java: KeeperFile['java']) => writeKeeperFile(file, { port, token, java });
  const before = readKeeperFile(file)?.java ?? null;
  // Written first, so that others find this keeper, and the next keeper finds the orphan if this one is killed, too.
  save(before);
  if (before !== null) await killOrphan(before.pid, dbPath);
  mkdirSync(dbPath, { recursive: true });
  try {
    // Its file names contain the access key.
    chmodSync(dbPath, 0o700);
  } catch {
    // The folder belongs to another user, who decides on its permissions.
  }
  greet({ port, token });
  const key = accessKey(join(dataDir, 'access-key'));
  keeper.run({ dbPath, key, ports: enginePorts(dataDir), onJava: (pid) => save({ pid }) });
}

keep(process.argv[2]).catch((error: unknown) => {
  greet({ error: error instanceof Error ? error.message : String(error) });
  process.exit(1);
});
