import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** What a small system file says; empty where there is none (systems other than Linux). */
function told(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return '';
  }
}

/**
 * Names the set of processes that our process ids are about: the machine since it was started, and the container on it.
 * Within one of them, and only there, a process id that is not in use tells that its process is dead.
 */
function processSpace(): string {
  return [
    hostname(),
    told(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    told(() => readlinkSync('/proc/self/ns/pid')),
  ].join(',');
}

/** A name for this process among all owners there will ever be. */
export function ownName(): string {
  return [processSpace(), process.pid, randomUUID()].join('/');
}

/** Whether the process that gave itself this name is known to be dead: it was one beside us, and is no more. */
export function ownerIsGone(owner: string): boolean {
  const [space, pid] = owner.split('/');
  if (space !== processSpace() || !/^\d+$/.test(pid ?? '')) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
