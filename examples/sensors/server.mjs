// A Cellport of one's own for as long as the example runs.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from '../../scripts/build.mjs';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Where the server that was started listens; undefined where it ended before it did. */
async function addressOf(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /Serving +(http:\/\/\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

/**
 * Builds what is not built, starts the server over the embedded engine on a free port, with an empty data folder, hands
 * its address to `work`, and stops it and removes the folder when that is done, whatever came of it.
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
    // The engine ends behind the server, and writes until then.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}
