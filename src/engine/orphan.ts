import { execFileSync } from 'node:child_process';

import { systemClock } from '../clock.js';

const POLL_MS = 50;
const ENDS_WITHIN_MS = 10_000;

/** One column of `ps` for a process; empty if there is no such process. */
function ps(column: 'command' | 'stat', pid: number): string {
  try {
    return execFileSync('ps', ['-o', `${column}=`, '-ww', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/**
 * Whether a process has released its port and files: it is gone, or only waits to be reaped. Its command line
 * disappears earlier, and a zombie may have threads (l) that still hold them.
 */
const hasEnded = (pid: number) => /^(Z[^l]*)?$/.test(ps('stat', pid));

/**
 * Kills a Java process that a killed keeper left running, and waits until it has released its port: two engines must
 * never share a folder. Does nothing if the process ID now belongs to anything but a DynamoDB Local on this folder.
 */
export async function killOrphan(pid: number, dbPath: string): Promise<void> {
  const command = ps('command', pid);
  if (!command.includes('DynamoDBLocal.jar') || !command.includes(dbPath)) return;
  process.kill(pid, 'SIGKILL');
  for (let waited = 0; !hasEnded(pid) && waited < ENDS_WITHIN_MS; waited += POLL_MS) await systemClock.sleep(POLL_MS);
}
