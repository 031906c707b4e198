// Runs a Cellport for the example.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { build } from '../../scripts/build.mjs';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The URL of the server; undefined if it ended before it listened. */
async function addressOf(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /Serving +(http:\/\/\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

/**
 * Builds what is out of date, starts a server with the embedded engine and an empty data folder on a free port, and calls
 * `work` with its URL. Stops the server and removes the folder when that is done or has failed.
 */
export async function withServer(work) {
  await build({ ifNeeded: true });
  const folder = await mkdtemp(join(tmpdir(), 'cellport-sensors-'));
  const env = { ...process.env, CELLPORT_ENGINE: 'embedded', CELLPORT_DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0' };
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = () => child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  try {
    const url = await addressOf(child);
    if (url === undefined) throw new Error(`the server ended with ${await ended} before it served`);
    child.stdout.resume();
    return await work(url);
  } finally {
    stop();
    await ended;
    // The engine ends after the server, and writes until then.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}
