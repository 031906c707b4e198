import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { kill, pid } from 'node:process';

/** A name for this process among owners of a stream, which no other process ever has. */
export function ownName(): string {
  return `${hostname()}:${pid}:${randomUUID()}`;
}

/** Whether the owner of this name was a process of this machine and is dead for certain. `self` is our own name. */
export function ownerIsGone(owner: string, self: string): boolean {
  const [host, id] = owner.split(':');
  if (host !== hostname() || id === undefined) return false;
  // A container starts with the same process id each time, so the one before us had ours.
  if (Number(id) === pid) return owner !== self;
  try {
    kill(Number(id), 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
