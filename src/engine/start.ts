import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { CellportError } from '../errors.js';
import { type KeeperAddress, type KeeperAnswer, type KeeperGreeting, firstLine } from './protocol.js';

/** A running DynamoDB Local. It stays while any process that started it is alive and has not closed it. */
export interface Engine {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Lets go of the engine; with its last user it stops. Resolves when this process holds nothing of it any more. */
  close(): Promise<void>;
}

const GIVE_UP_AFTER_MS = 60_000;
const ASK_AGAIN_MS = 100;

/** Starts a keeper, or finds the one at work on this folder, and gives its address. */
async function findKeeper(dataDir: string | null): Promise<KeeperAddress> {
  const own = fileURLToPath(import.meta.url);
  // Run from its source (tests, development), the keeper needs tsx as its user did; built, plain node is enough.
  const fromSource = own.endsWith('.ts');
  const keeper = join(dirname(own), fromSource ? 'keeper.ts' : 'keeper.js');
  const child: ChildProcessByStdio<null, Readable, null> = spawn(
    process.execPath,
    [...(fromSource ? ['--import', 'tsx'] : []), keeper, ...(dataDir === null ? [] : [dataDir])],
    {
      cwd: resolve(dirname(own), '../..'),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const greeting = await firstLine<KeeperGreeting>(child.stdout);
  child.stdout.destroy();
  child.unref();
  if (greeting === undefined)
    throw new CellportError('UNAVAILABLE', 'the keeper of the embedded DynamoDB did not start');
  if ('error' in greeting) throw new CellportError('UNAVAILABLE', greeting.error);
  return greeting;
}

/** Joins a keeper; undefined where it is about to stop or has just done so. */
async function joinKeeper(address: KeeperAddress): Promise<{ socket: Socket; answer: KeeperAnswer } | undefined> {
  const socket = connect(address.port, '127.0.0.1', () => socket.write(`{"use":${JSON.stringify(address.token)}}\n`));
  const answer = await firstLine<KeeperAnswer>(socket);
  if (answer === undefined || answer.state === 'stopping') {
    socket.destroy();
    return undefined;
  }
  return { socket, answer };
}

/**
 * Starts DynamoDB Local on a data folder, or joins the one that another process runs there; null keeps the data in
 * memory, for this process alone. Resolves when it answers. Throws UNAVAILABLE, saying what to install, where Java 17
 * is missing. The engine does not keep this process alive, and a killed process leaves no engine behind.
 */
export async function startEngine({ dataDir }: { readonly dataDir: string | null }): Promise<Engine> {
  const folder = dataDir === null ? null : resolve(dataDir);
  if (folder !== null) mkdirSync(folder, { recursive: true });
  const deadline = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    // One folder has one name: two paths to it must lead to one keeper.
    const joined = await joinKeeper(await findKeeper(folder === null ? null : realpathSync(folder)));
    if (joined === undefined) {
      if (performance.now() > deadline) throw new CellportError('UNAVAILABLE', 'the embedded DynamoDB keeps stopping');
      await sleep(ASK_AGAIN_MS);
      continue;
    }
    const { socket, answer } = joined;
    if (answer.state !== 'ready') {
      socket.destroy();
      throw new CellportError('UNAVAILABLE', answer.state === 'failed' ? answer.error : 'the engine is stopping');
    }
    socket.on('error', () => socket.destroy());
    socket.resume();
    socket.unref();
    return {
      endpoint: answer.endpoint,
      region: answer.region,
      credentials: { accessKeyId: answer.accessKey, secretAccessKey: answer.accessKey },
      close: async () => {
        if (socket.destroyed) return;
        socket.ref();
        const closed = new Promise((done) => socket.once('close', done));
        socket.end();
        await closed;
      },
    };
  }
}
