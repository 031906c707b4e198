import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A command line at work: what it has said so far, and how it ends. */
export interface RunningCli {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves with the first match in what it says; rejects where it ends before. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Resolves with the exit code once it has ended; null where a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Runs `cellport` from its source in a process of its own, with nothing of this machine's settings but the path. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCli {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
    cwd: root,
    env: { ...(PATH === undefined ? {} : { PATH }), ...(HOME === undefined ? {} : { HOME }), ...env },
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
  return {
    child,
    output: () => text,
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text);
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        void ended.then((code) => reject(new Error(`it ended with ${code} and never said ${pattern}:\n${text}`)));
      }),
  };
}
