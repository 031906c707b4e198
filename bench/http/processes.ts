import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A process that is measured from outside. */
export interface Measured {
  readonly child: ChildProcess;
  /** CPU time used, in ms, including the threads of the garbage collector. */
  readonly cpu: () => Promise<number>;
  /** Sends a message and resolves to the next one received. */
  readonly ask: <T>(order: unknown) => Promise<T>;
  readonly stop: () => Promise<void>;
}

/** Starts a Node script in a measured process. */
export function startMeasured(args: readonly string[], env: Readonly<Record<string, string>>): Measured {
  const child = spawn(process.execPath, ['--import', './bench/http/measured.mjs', ...args], {
    cwd: root,
    env: { ...process.env, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', CELLPORT_WORKERS: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ask = async <T>(order: unknown): Promise<T> => {
    const answer = new Promise<T>((resolve, reject) => {
      child.once('message', (message) => resolve(message as T));
      void ended.then(() => reject(new Error(`${args.join(' ')} exited`)));
    });
    child.send(order as object);
    return answer;
  };
  return {
    child,
    ask,
    cpu: async () => {
      const { user, system } = await ask<NodeJS.CpuUsage>('cpu');
      return (user + system) / 1_000;
    },
    stop: async () => {
      if (child.exitCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The first match in the output of a process. */
export function waitForOutput({ child }: Measured, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const match = pattern.exec(text);
      if (match) resolve(match);
    });
    child.once('exit', (code) =>
      reject(new Error(`the process exited with code ${code} without printing ${pattern}:\n${text}`)),
    );
  });
}
