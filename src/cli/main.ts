#!/usr/bin/env node
import { endOf } from './failure.js';
import { runCli } from './program.js';

// A reader such as `head` may close a pipe early. Commands that must not go on then notice it themselves.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    console.error(endOf(error).message);
    process.exit(1);
  });
}
process.exitCode = await runCli(process.argv.slice(2));
