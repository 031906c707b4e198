import { createInterface } from 'node:readline/promises';

import { Interrupted } from './failure.js';
import { grouped } from './progress.js';

/** Asks on the terminal whether to go on; undefined if there is none. Throws Interrupted if the answer is not yes. */
export async function ask(question: string, signal: AbortSignal): Promise<true | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // At the end of the input, the question stays without an answer.
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    const answer = await Promise.race([terminal.question(`${question} [y/N] `, { signal }), closed]);
    if (/^y(es)?$/i.test(answer.trim())) return true;
    throw new Interrupted('cellport: nothing was changed');
  } finally {
    terminal.close();
  }
}

/** Asks whether map properties that none of some markers has are meant; without a terminal, only warns. */
export async function askAboutNames(names: ReadonlySet<string>, markers: number, signal: AbortSignal): Promise<void> {
  if (names.size === 0 || markers === 0) return;
  const found = `none of ${grouped(markers)} markers has ${[...names].join(', ')}`;
  if ((await ask(`${found}. Go on?`, signal)) === undefined) console.error(`warning: ${found}`);
}
