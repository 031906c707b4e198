import { readFileSync } from 'node:fs';

const SCHEDSTAT = `/proc/self/task/${process.pid}/schedstat`;

/**
 * CPU time in ms of this process's main thread, which does not advance while other threads or processes run. Where the
 * system does not tell (not Linux), that of all threads.
 */
export function threadCpu(): number {
  try {
    return Number(readFileSync(SCHEDSTAT, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}

/**
 * Measures the longest CPU time in ms that one round of the event loop takes, until the returned function is called:
 * for as long nothing else can run.
 */
export function watchRounds(): () => number {
  let longest = 0;
  let last = threadCpu();
  let next = setImmediate(function look() {
    const now = threadCpu();
    longest = Math.max(longest, now - last);
    last = now;
    next = setImmediate(look);
  });
  return () => {
    clearImmediate(next);
    return longest;
  };
}
