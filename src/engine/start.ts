import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import { PRIVATE_FOLDER } from '../private-files.js';
import { retry } from '../retry.js';
import { databaseFile, databaseFolder } from './database-file.js';
import { runningKeeper } from './folder.js';
import { folderIdentity } from './keeper-file.js';
import { firstLine, parseLine, type KeeperAddress, type KeeperAnswer, type KeeperGreeting } from './protocol.js';

/** How to reach a DynamoDB Local. */
export interface EngineAddress {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** A running DynamoDB Local. It runs until every process that started it has closed it or exited. */
export interface Engine extends EngineAddress {
  /** The current endpoint: the port changes if the engine had to be restarted and its port was taken. */
  readonly currentEndpoint: () => Promise<string>;
  /**
   * Path of SQLite's write-ahead log; null if data is in memory. Where only a rollback journal works, the file does not
   * exist.
   */
  readonly log: string | null;
  /** Releases the engine, which stops with its last user. Resolves when this process has no connection to it. */
  close(): Promise<void>;
}

type ReadyAnswer = Extract<KeeperAnswer, { readonly state: 'ready' }>;

const GIVE_UP_AFTER_MS = 60_000;
const POLL_MS = 100;
const KEEPERS_TRIED = 3;
const LONGEST_PAUSE_MS = 5_000;

/** The address of this folder's keeper, which is started if necessary; undefined if it ended before it could say that. */
async function findKeeper(dataDir: string | null): Promise<KeeperAddress | undefined> {
  // Without a process that only finds it: a command beside a server would wait 0.3 s for that.
  const running = dataDir === null ? undefined : await runningKeeper(dataDir);
  if (running !== undefined) return running;
  const own = fileURLToPath(import.meta.url);
  // Run from source (tests, development), the keeper needs tsx; once built, plain node suffices.
  const fromSource = own.endsWith('.ts');
  const keeper = resolve(dirname(own), fromSource ? 'keeper.ts' : 'keeper.js');
  const child: ChildProcessByStdio<null, Readable, null> = spawn(
    process.execPath,
    [...(fromSource ? ['--import', 'tsx'] : []), keeper, ...(dataDir === null ? [] : [dataDir])],
    {
      cwd: resolve(dirname(own), '../..'),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  // A process that cannot be started greets nobody.
  child.on('error', () => undefined);
  const greeting = await firstLine<KeeperGreeting>(child.stdout);
  child.stdout.destroy();
  child.unref();
  if (greeting !== undefined && 'error' in greeting) throw new CellportError('UNAVAILABLE', greeting.error);
  return greeting;
}

/** Connects to a keeper; undefined if it is stopping or has just stopped. */
async function joinKeeper(address: KeeperAddress): Promise<{ socket: Socket; answer: KeeperAnswer } | undefined> {
  const socket = connect(address.port, '127.0.0.1', () => socket.write(`{"use":${JSON.stringify(address.token)}}\n`));
  const answer = await firstLine<KeeperAnswer>(socket);
  if (answer === undefined || answer.state === 'stopping') {
    socket.destroy();
    return undefined;
  }
  return { socket, answer };
}

/** Connects to a folder's keeper, which is started if necessary; retries while one is stopping. */
async function join(folder: string | null): Promise<{ socket: Socket; answer: ReadyAnswer }> {
  const deadline = systemClock.now() + GIVE_UP_AFTER_MS;
  for (let unsaid = 0; ;) {
    const address = await findKeeper(folder);
    // One may have been killed, others cannot run.
    if (address === undefined && (unsaid += 1) === KEEPERS_TRIED)
      throw new CellportError('UNAVAILABLE', 'the keeper of the embedded DynamoDB did not start');
    const joined = address && (await joinKeeper(address));
    if (joined?.answer.state === 'ready') return { socket: joined.socket, answer: joined.answer };
    joined?.socket.destroy();
    if (joined?.answer.state === 'failed') throw new CellportError('UNAVAILABLE', joined.answer.error);
    if (systemClock.now() > deadline) throw new CellportError('UNAVAILABLE', 'the embedded DynamoDB keeps stopping');
    await systemClock.sleep(POLL_MS);
  }
}

/** This process's connection to a folder's keeper; reconnects if the keeper was killed. */
class KeeperConnection {
  readonly #folder: string | null;
  readonly #identity: string | undefined;
  #socket: Socket | undefined;
  #answer: ReadyAnswer | undefined;
  #closing = false;

  constructor(folder: string | null) {
    this.#folder = folder;
    this.#identity = folder === null ? undefined : folderIdentity(folder);
  }

  get answer(): ReadyAnswer {
    if (this.#answer === undefined) throw new Error('the keeper has not answered yet');
    return this.#answer;
  }

  async open(): Promise<void> {
    // Another folder at the same path has other data, or none.
    if (this.#folder !== null && folderIdentity(this.#folder) !== this.#identity)
      throw new CellportError('UNAVAILABLE', `the data folder ${this.#folder} was replaced by another`);
    const { socket, answer } = await join(this.#folder);
    this.#answer = answer;
    this.#socket = socket;
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#closed());
    // An engine that was restarted may listen on another port.
    createInterface({ input: socket }).on('line', (line) => {
      const again = parseLine<KeeperAnswer>(line);
      if (again?.state === 'ready') this.#answer = again;
    });
    socket.unref();
    if (this.#closing) socket.end();
  }

  /**
   * The connection closes only if the keeper is killed; the next keeper restarts the engine. In-memory data is lost.
   */
  #closed(): void {
    if (this.#closing || this.#folder === null) return;
    const retryable = () => !this.#closing;
    retry(() => this.open(), { attempts: Infinity, retryable, longestMs: LONGEST_PAUSE_MS }).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing = true;
    const socket = this.#socket;
    if (socket === undefined || socket.destroyed) return;
    socket.ref();
    const closed = new Promise((done) => socket.once('close', done));
    socket.end();
    await closed;
  }
}

/**
 * Starts DynamoDB Local on a data folder, or uses the one that another process runs there; null keeps the data in
 * memory, for this process alone. Resolves when it is ready. Throws UNAVAILABLE, saying what to install, if Java 17 is
 * missing. The engine does not keep this process alive, and a killed process leaves no engine behind. If Java or the
 * keeper is killed, the engine is back within seconds with all acknowledged data.
 */
export async function startEngine({ dataDir }: { readonly dataDir: string | null }): Promise<Engine> {
  if (dataDir !== null) mkdirSync(dataDir, PRIVATE_FOLDER);
  // Two paths to one folder must lead to the same keeper.
  const connection = new KeeperConnection(dataDir === null ? null : realpathSync(dataDir));
  await connection.open();
  const { endpoint, region, accessKey } = connection.answer;
  return {
    endpoint,
    log: dataDir === null ? null : `${databaseFile(databaseFolder(dataDir), accessKey, region)}-wal`,
    currentEndpoint: () => Promise.resolve(connection.answer.endpoint),
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: accessKey },
    close: () => connection.close(),
  };
}
