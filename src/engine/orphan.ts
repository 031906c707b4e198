import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

import { systemClock } from '../clock.js';

const POLL_MS = 50;
const ENDS_WITHIN_MS = 10_000;

interface Process {
  readonly command: string;
  /** Whether it only waits to be reaped, and has no thread that still holds its port and files. */
  readonly isZombie: boolean;
}

/** A process by its ID, as Linux shows it; an image without `ps` has this, too. */
function processInProc(pid: number): Process | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return { command, isZombie: /^State:\tZ/m.test(status) && !/^Threads:\t([2-9]|\d\d)/m.test(status) };
  } catch {
    return undefined;
  }
}

/** The same where there is no `/proc`. */
function processInPs(pid: number): Process | undefined {
  try {
    const args = ['-o', 'stat=,command=', '-ww', '-p', String(pid)];
    const [, state = '', command = ''] = /^\s*(\S+)(.*)/s.exec(execFileSync('ps', args, { encoding: 'utf8' })) ?? [];
    return { command, isZombie: /^Z[^l]*$/.test(state) };
  } catch {
    return undefined;
  }
}

/** A process by its ID; undefined if there is none. */
const processOf = existsSync('/proc/self/status') ? processInProc : processInPs;

/**
 * Kills a Java process that a killed keeper left running, and waits until it has released its port: two engines must
 * never share a folder. Does nothing if the process ID now belongs to anything but a DynamoDB Local with this argument.
 */
export async function killOrphan(pid: number, mark: string): Promise<void> {
  const command = processOf(pid)?.command ?? '';
  if (!command.includes('DynamoDBLocal.jar') || !` ${command} `.includes(` ${mark} `)) return;
  process.kill(pid, 'SIGKILL');
  const hasEnded = () => processOf(pid)?.isZombie ?? true;
  for (let waited = 0; !hasEnded() && waited < ENDS_WITHIN_MS; waited += POLL_MS) await systemClock.sleep(POLL_MS);
}
