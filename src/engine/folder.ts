import { createHash } from 'node:crypto';
import { connect, type Server } from 'node:net';

import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import { folderIdentity, keeperFile, readKeeperFile } from './keeper-file.js';
import { firstLine, type KeeperAddress } from './protocol.js';

const ANSWERS_WITHIN_MS = 2_000;
/** How long a keeper may take to start or to stop on a busy machine. */
const SETTLES_WITHIN_MS = 15_000;
const POLL_MS = 50;
const CANDIDATES = 8;

/**
 * Ports for one purpose of a data folder, in the order to try. They are below the ephemeral range: otherwise, while an
 * engine restarts, the system could assign the engine's port to a client that reconnects.
 */
function portsOf(identity: string, offset: number): readonly number[] {
  const hash = createHash('sha256').update(identity).digest();
  return Array.from({ length: CANDIDATES }, (_, index) => 20_000 + (hash.readUInt16BE(offset + index * 2) % 12_000));
}

/**
 * Ports that keepers of this folder may listen on. They act as a lock between processes that start at the same time:
 * the system gives a port to one process and, unlike a lock file, releases it when that process is killed.
 */
const keeperPorts = (identity: string) => portsOf(identity, 0);

/** Ports that this folder's engine may listen on, the same at each start. */
export const enginePorts = (identity: string) => portsOf(identity, CANDIDATES * 2);

/** Listens on a loopback port; false if another program already does. */
export function listen(server: Server, port: number): Promise<boolean> {
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

/** Sends one line to a local port and returns the response; undefined if there is none or it is not JSON. */
async function ask<T>(port: number, question: object): Promise<T | undefined> {
  const socket = connect(port, '127.0.0.1', () => socket.write(`${JSON.stringify(question)}\n`));
  socket.setTimeout(ANSWERS_WITHIN_MS, () => socket.destroy());
  const line = await firstLine<T>(socket);
  socket.destroy();
  return line;
}

/**
 * The keeper named in the folder's file, if it is running. Only the keeper knows the token, so any other program on its port is
 * ruled out, and only for the folder that it has, so that a copy of the folder with its file is not taken for the original.
 */
export async function runningKeeper(dataDir: string): Promise<KeeperAddress | undefined> {
  const named = readKeeperFile(keeperFile(dataDir));
  if (named === undefined) return undefined;
  const answer = await ask<{ pong?: unknown; folder?: unknown }>(named.port, { ping: named.token });
  if (answer?.pong !== true) return undefined;
  if (answer.folder === undefined) {
    const message = `an older Cellport uses ${dataDir}, or the folder of which it is a copy: stop that first`;
    throw new CellportError('UNAVAILABLE', message);
  }
  return answer.folder === folderIdentity(dataDir) ? { port: named.port, token: named.token } : undefined;
}

/**
 * Makes this process the keeper of the folder by listening on one of its ports, or returns the address of the running
 * keeper.
 */
export async function takeFolder(server: Server, dataDir: string): Promise<KeeperAddress | undefined> {
  const identity = folderIdentity(dataDir);
  for (const port of keeperPorts(identity)) {
    for (let waited = 0; ; waited += POLL_MS) {
      if (await listen(server, port)) return runningKeeper(dataDir);
      const holder = await ask<{ keeperOf?: unknown }>(port, { whose: identity });
      // Another program uses the port.
      if (holder?.keeperOf !== identity) break;
      // The keeper may not have written its file yet, or is waiting for its Java process to end.
      const other = await runningKeeper(dataDir);
      if (other !== undefined) return other;
      if (waited >= SETTLES_WITHIN_MS) throw new Error('another keeper of this folder is starting or stopping; retry');
      await systemClock.sleep(POLL_MS);
    }
  }
  throw new Error('no free port for the keeper of the embedded DynamoDB');
}
