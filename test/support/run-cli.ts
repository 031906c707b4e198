import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, vi } from 'vitest';

import { runCli as runProgram } from '../../src/cli/program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

const given = (settings: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Record<string, string>;

/** A running command. */
export interface RunningCli {
  readonly child: ChildProcess;
  /** What it has printed so far, on both streams. */
  readonly output: () => string;
  /** Resolves with the first match in its output; rejects if it exits without one. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Resolves with the URL of a server once it serves. */
  readonly serving: () => Promise<string>;
  /** Resolves with the exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Runs `cellport` in a child process, which inherits only the variables needed to find and start Java; a server has one worker. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCli {
  const { PATH, HOME, JDK_JAVA_OPTIONS } = process.env;
  const child = spawn(process.execPath, [join(inject('compiled'), 'src/cli/main.js'), ...args], {
    cwd: root,
    env: { ...given({ PATH, HOME, JDK_JAVA_OPTIONS }), CELLPORT_WORKERS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const said: RunningCli['said'] = (pattern) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(text);
        if (match === null) return;
        listeners.delete(look);
        resolve(match);
      };
      listeners.add(look);
      look();
      void ended.then((code) => reject(new Error(`it ended with ${code} and never printed ${pattern}:\n${text}`)));
    });
  const serving = async () => (await said(/Serving +(http:\/\/\S+)/))[1] ?? '';
  return { child, output: () => text, ended, said, serving };
}

/** Runs `cellport` in this process, which takes a tenth of the CPU time; returns its output and exit code. */
export async function runCliHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly output: string }> {
  let output = '';
  const print = (text: unknown) => {
    output += `${String(text)}\n`;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(print),
    vi.spyOn(process.stderr, 'write').mockImplementation(print),
    vi.spyOn(console, 'log').mockImplementation(print),
    vi.spyOn(console, 'error').mockImplementation(print),
  ];
  // As in `runCli`, settings are those of the test only: those of the test run, such as CELLPORT_SOAK, are unknown to it.
  const inherited = Object.keys(process.env).filter((name) => name.startsWith('CELLPORT_'));
  for (const name of inherited) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries({ CELLPORT_WORKERS: '1', ...env })) vi.stubEnv(name, value);
  const before = process.listeners('exit');
  try {
    const code = await runProgram(args);
    return { code, output };
  } finally {
    vi.unstubAllEnvs();
    // Otherwise listeners would accumulate until Node warns, in the output of a later command.
    for (const listener of process.listeners('exit')) {
      if (before.includes(listener)) continue;
      process.off('exit', listener);
      listener.call(process, 0);
    }
    for (const spy of spies) spy.mockRestore();
  }
}
