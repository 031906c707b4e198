import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/** The fields of /proc/PID/stat after the program's name; undefined if the process has ended. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** A process and all that descend from it. */
function tree(root: number): number[] {
  const parents = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .map((pid) => ({ pid, parent: Number(statOf(pid)?.[1]) }));
  const found = [root];
  for (const pid of found) found.push(...parents.filter(({ parent }) => parent === pid).map((each) => each.pid));
  return found;
}

/** CPU time in ms that a process and its descendants have used; those that have ended count if they were waited for. */
export function cpuOfTree(root: number): number {
  const ticks = tree(root).flatMap((pid) => (statOf(pid) ?? []).slice(11, 15).map(Number));
  return TICK_MS * ticks.reduce((sum, each) => sum + each, 0);
}

/** Memory in MB of a process and its descendants; what they share counts once. */
export function memoryOfTree(root: number): number {
  const kilobytes = tree(root).map((pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
  });
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1_024;
}
