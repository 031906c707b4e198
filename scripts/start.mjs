// `npm start` builds what is out of date, then serves the demo data, in one process.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';

const LOOK_MS = 250;

/** Process IDs of our parent and grandparent, one of which is npm; without /proc only the parent. */
function ancestors() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    return `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    return String(process.ppid);
  }
}

/**
 * Stops the server cleanly when npm has exited. Ctrl-C reaches every process of the terminal, but SIGTERM to npm ends only
 * npm and its shell, and kill -9 only npm: the server would keep running unnoticed and hold the port.
 */
function endWithNpm() {
  const before = ancestors();
  const watch = setInterval(() => {
    if (ancestors() === before) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_MS);
  watch.unref();
}

const given = process.argv.slice(2);
if (given.includes('--with-npm')) endWithNpm();
try {
  await build({ ifNeeded: true });
} catch (error) {
  console.error(`the build failed: ${error.message}`);
  process.exit(1);
}
const main = new URL('../dist/cli/main.js', import.meta.url);
process.argv = [
  process.argv[0],
  fileURLToPath(main),
  'serve',
  '--demo',
  ...given.filter((each) => each !== '--with-npm'),
];
await import(main.href);
