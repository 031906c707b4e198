import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';

import { systemClock } from '../clock.js';
import { databaseFile, databaseFolder, prepareDatabaseFile } from './database-file.js';
import { enginePorts, listen, takeFolder } from './folder.js';
import { startJava, stopJava, type JavaEngine } from './java.js';
import {
  folderIdentity,
  isCopyInUse,
  keeperFile,
  readKeeperFile,
  writeKeeperFile,
  type KeeperFile,
} from './keeper-file.js';
import { killOrphan } from './orphan.js';
import { firstLine, type KeeperAnswer, type KeeperGreeting } from './protocol.js';

const PIECES = 16;
const PIECE_BYTES = 64 * 1024;

const reserveFile = (dataDir: string) => join(dataDir, 'reserve');

/** Takes space, as far as there is any, that the next start needs if the disk is full by then. */
function takeReserve(dataDir: string): void {
  try {
    // Random, because some file systems would need no space for zeros.
    for (let piece = 0; piece < PIECES; piece += 1) appendFileSync(reserveFile(dataDir), randomBytes(PIECE_BYTES));
  } catch {
    // The disk is full: what has been taken stays.
  }
}

/** Gives the space up, for the keeper's file and the index that SQLite makes of its log. */
function giveUpReserve(dataDir: string): void {
  rmSync(reserveFile(dataDir), { force: true });
}

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

/** A data folder that this keeper has. */
interface Folder {
  readonly path: string;
  readonly identity: string;
  /** Notes the Java process, and whether it runs on. Throws if another folder is in the place of this one. */
  readonly save: (java: KeeperFile['java'], inUse: boolean) => void;
}

/** An engine, and the processes that use it. */
class Keeper {
  readonly token = randomBytes(16).toString('hex');
  readonly #identity: string | undefined;
  readonly #stopping = new AbortController();
  readonly #users = new Set<Socket>();
  /** The answer sent to users; undefined until the engine runs or has failed. */
  #answer: KeeperAnswer | undefined;
  #engine: JavaEngine | undefined;
  #folder: Folder | undefined;
  #starting: Promise<void> = Promise.resolve();
  #earlyExits = 0;

  constructor(identity: string | undefined) {
    this.#identity = identity;
  }

  /** Answers the line with which a connection begins. */
  async take(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const line = await firstLine<{ whose?: unknown; ping?: unknown; use?: unknown }>(socket);
    if (line?.whose !== undefined) socket.end(`${JSON.stringify({ keeperOf: this.#identity })}\n`);
    // A stopping keeper still answers: until Java has ended, no other keeper may take over the folder.
    else if (line?.ping === this.token) socket.end(`${JSON.stringify({ pong: true, folder: this.#identity })}\n`);
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

  /** Runs the engine, restarting it whenever it ends, until it has no users. Without a folder, data is in memory. */
  run(key: string, folder: Folder | undefined): void {
    setTimeout(() => {
      if (this.#users.size === 0) void this.stop();
    }, FIRST_CONNECTION_WITHIN_MS);
    this.#folder = folder;
    this.#starting = this.#start(key).catch((error: unknown) => {
      this.#answerUsers({ state: 'failed', error: error instanceof Error ? error.message : String(error) });
    });
  }

  async #start(key: string): Promise<void> {
    const folder = this.#folder;
    const dbPath = folder === undefined ? null : databaseFolder(folder.path);
    if (folder !== undefined && dbPath !== null) {
      giveUpReserve(folder.path);
      folder.save(null, true);
      prepareDatabaseFile(databaseFile(dbPath, key, REGION));
    }
    const ports = folder === undefined ? [] : enginePorts(folder.identity);
    const engine = await startJava(dbPath, ports, markOf(folder?.identity), this.#stopping.signal);
    const began = systemClock.now();
    this.#engine = engine;
    engine.process.once('exit', () => this.#restart(key, systemClock.now() - began));
    if (folder !== undefined) {
      folder.save(javaOf(engine), true);
      takeReserve(folder.path);
    }
    this.#answerUsers({ state: 'ready', endpoint: `http://127.0.0.1:${engine.port}`, region: REGION, accessKey: key });
  }

  #restart(key: string, ranForMs: number): void {
    this.#earlyExits = ranForMs > EARLY_EXIT_MS ? 0 : this.#earlyExits + 1;
    // In-memory data is lost with the process, and an engine that exits right after its start would do so again.
    const again = this.#folder !== undefined && this.#earlyExits < MAX_EARLY_EXITS && !this.#stopping.signal.aborted;
    if (again) this.#starting = this.#start(key).catch(() => void this.stop());
    else void this.stop();
  }

  /** Stops the engine and ends the process, which releases the folder. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    // A Java process that is still starting would outlive this process.
    await this.#starting;
    if (this.#engine !== undefined) {
      try {
        this.#folder?.save(javaOf(this.#engine), false);
      } catch {
        // The folder has been moved or removed, or its disk is full.
      }
      await stopJava(this.#engine);
    }
    process.exit(0);
  }
}

const javaOf = ({ process: { pid = 0 } }: JavaEngine) => ({ pid });

/** The argument of the Java process that serves a folder. */
const markOf = (identity = 'none') => `-Dcellport.folder=${identity}`;

/** Removes what was copied at another moment than the database: indexes of search, and the progress of imports. */
function removeFollowers(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (/\.search(-\w+)?$/.test(name) || name === 'imports')
      rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

async function keep(dataDir: string | undefined): Promise<void> {
  // For the files of Java, too, whose names contain the access key.
  process.umask(0o077);
  // Keeps another folder from getting the same identity, should this one be removed.
  if (dataDir !== undefined && process.platform !== 'win32') openSync(dataDir, 'r');
  const identity = dataDir === undefined ? undefined : folderIdentity(dataDir);
  const keeper = new Keeper(identity);
  const { token } = keeper;
  const server = createServer((socket) => void keeper.take(socket));
  if (dataDir === undefined) {
    if (!(await listen(server, 0))) throw new Error('no free port');
  } else {
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
  if (dataDir === undefined || identity === undefined) {
    greet({ port, token });
    keeper.run(newAccessKey(), undefined);
    return;
  }
  const dbPath = databaseFolder(dataDir);
  const save: Folder['save'] = (java, inUse) => {
    if (folderIdentity(dataDir) !== identity) throw new Error(`another folder is in the place of ${dataDir}`);
    writeKeeperFile(dataDir, { port, token, java }, inUse);
  };
  const before = readKeeperFile(keeperFile(dataDir))?.java ?? null;
  giveUpReserve(dataDir);
  if (isCopyInUse(dataDir)) removeFollowers(dataDir);
  // Written first, so that others find this keeper, and the next keeper finds the orphan if this one is killed, too.
  save(before, true);
  if (before !== null) await killOrphan(before.pid, markOf(identity));
  mkdirSync(dbPath, { recursive: true });
  try {
    chmodSync(dbPath, 0o700);
  } catch {
    // The folder belongs to another user, who decides on its permissions.
  }
  greet({ port, token });
  keeper.run(accessKey(join(dataDir, 'access-key')), { path: dataDir, identity, save });
}

keep(process.argv[2]).catch((error: unknown) => {
  greet({ error: error instanceof Error ? error.message : String(error) });
  process.exit(1);
});
