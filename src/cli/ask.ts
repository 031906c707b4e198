import { createInterface } from 'node:readline/promises';

import { Interrupted } from './failure.js';

/** Asks on the terminal whether to go on; undefined if there is none. Throws Interrupted if the answer is not yes. */
export async function ask(question: string, signal: AbortSignal): Promise<true | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    if (/^y(es)?$/i.test(answer.trim())) return true;
    throw new Interrupted('cellport: nothing was changed');
  } finally {
    terminal.close();
  }
}
