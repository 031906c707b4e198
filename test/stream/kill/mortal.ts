import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';

import { loadStreamState } from '../../../src/store/cell/stream-state.js';
import { newCall, type Database } from '../../../src/store/database.js';
import { engine } from '../../support/test-database.js';
import type { WorkerOptions } from './worker.js';

/** A consumer in its own process. */
export interface MortalConsumer {
  start(): void;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /**
   * Waits until it is working, kills it at a random moment soon after, and starts the next one; `next` returns 0 to 1.
   */
  killAtWork(next: () => number): Promise<void>;
}

/** Kills a process with SIGKILL, if there is one that runs. */
export async function killed(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A consumer of this database that a test can kill as often as it likes while it is working. */
export function mortalConsumer(db: Database): MortalConsumer {
  const options: WorkerOptions = { engine: engine(), tables: db.tables };
  const program = join(inject('compiled'), 'test/stream/kill/worker.js');
  let child: ChildProcess | undefined;
  const batchNow = async () => (await loadStreamState(newCall(db), 'cells'))?.batch ?? 0;
  const start = () => {
    child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  const kill = async () => killed(child);
  return {
    start,
    kill,
    async killAtWork(next) {
      // Killing a process that has not started its work would prove nothing.
      const before = await batchNow();
      while ((await batchNow()) === before) await sleep(40);
      await sleep(next() * 150);
      await kill();
      start();
    },
  };
}
