import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The text of a small system file; empty if it does not exist (systems other than Linux). */
function textOrEmpty(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return '';
  }
}

/**
 * Identifies the scope in which process IDs are unique: the machine since its last boot, and the container on it. Only
 * within one scope does an unused process ID mean that its process is dead.
 */
function processSpace(): string {
  return [
    hostname(),
    textOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    textOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
  ].join(',');
}

/** A name for this process that no other owner will ever have. */
export function ownName(): string {
  return [processSpace(), process.pid, randomUUID(), ownRelease()].join('/');
}

/** The release of this process; empty in the function for AWS Lambda, which is one file. */
export function ownRelease(): string {
  const text = textOrEmpty(() => readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  return text === '' ? '' : (JSON.parse(text) as { readonly version: string }).version;
}

/** Where the process with this name runs, and of which release it is; undefined for those that did not say. */
export function placeOf(owner: string): { readonly host: string; readonly pid: string; readonly release?: string } {
  const [space = '', pid = '', _id, release] = owner.split('/');
  return { host: space.split(',')[0] ?? '', pid, ...(release ? { release } : {}) };
}

/** Whether the process with this name is known to be dead: it ran on this machine, and no longer does. */
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
