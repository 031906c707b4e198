import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STARTS_WITHIN_MS = 120_000;
const SETTINGS = {
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  JDK_JAVA_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
  CELLPORT_WORKERS: '1',
  CELLPORT_SEARCH_MB: '0',
  CELLPORT_LOG: 'error',
  PORT: '0',
};

/** A server in a process of its own, which ends with the runner. */
export class FleetServer {
  readonly name: string;
  readonly #program: string;
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #runs = 0;
  /** Undefined while it is down. */
  url: string | undefined;
  /** What it printed before it ended by itself. */
  readonly crashes: string[] = [];

  constructor(name: string, compiled: string, settings: Readonly<Record<string, string>>) {
    this.name = name;
    this.#program = join(compiled, 'src/cli/main.js');
    this.#settings = settings;
  }

  /** Differs after each start. */
  get run(): string {
    return `${this.name}, run ${this.#runs}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it until it serves. If it ends before, because DynamoDB cannot be reached, it is started again. */
  async start(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.#serves())) await sleep(500);
  }

  #serves(): Promise<boolean> {
    const { PATH = '', HOME = '' } = process.env;
    const preload = join(import.meta.dirname, 'preload.mjs');
    const child = spawn(process.execPath, ['--import', preload, this.#program, 'serve'], {
      env: { PATH, HOME, ...SETTINGS, ...this.#settings },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    this.#runs += 1;
    let output = '';
    return new Promise((resolve) => {
      const late = setTimeout(() => child.kill('SIGKILL'), STARTS_WITHIN_MS);
      child.once('exit', (code, ended) => {
        clearTimeout(late);
        resolve(false);
        if (this.#child !== child) return;
        if (this.url !== undefined)
          this.crashes.push(`${this.run} ended with ${code ?? ended}: ${output.slice(-2_000)}`);
        this.url = undefined;
      });
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (piece: string) => {
          output += piece;
          const [, url] = /Serving +(http:\/\/\S+)/.exec(output) ?? [];
          if (url === undefined || this.#child !== child) return;
          output = output.slice(-10_000);
          this.url = url;
          clearTimeout(late);
          resolve(true);
        });
    });
  }

  setClock(aheadMs: number): void {
    if (this.#child?.connected === true) this.#child.send({ aheadMs });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.url = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}
