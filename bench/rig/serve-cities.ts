import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { EngineAddress } from '../../src/engine/start.js';
import { settingsOf } from '../../test/support/engine-settings.js';

export interface Served {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Starts the built server on an engine, with these settings. Resolves when it prints a line that `ready` accepts. */
export async function startServer(
  engine: EngineAddress,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  ready: (line: string) => boolean,
): Promise<Served> {
  // The option is that of the container image, of workers and of `npm start`.
  const child = spawn(process.execPath, ['--max-semi-space-size=32', 'dist/cli/main.js', 'serve', ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...process.env,
      PORT: '0',
      CELLPORT_ENGINE: 'aws',
      CELLPORT_WORKERS: '1',
      ...settingsOf(engine),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    url = /Serving +(http:\/\/\S+)/.exec(line)?.[1] ?? url;
    if (ready(line)) {
      child.stdout.resume();
      return { child, url: url.replace(/\/$/, '') };
    }
  }
  throw new Error('the server exited before it was ready');
}

/** Starts the built server with the demo on an engine. Resolves when it is complete. */
export const serveCities = (engine: EngineAddress, settings: Readonly<Record<string, string>> = {}): Promise<Served> =>
  startServer(engine, ['--demo'], settings, (line) => line.includes('the demo is complete'));
