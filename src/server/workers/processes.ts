import cluster, { type Worker as Process } from 'node:cluster';
import { fileURLToPath } from 'node:url';

import { systemClock } from '../../clock.js';
import { CellportError } from '../../errors.js';
import type { Log } from '../../log.js';
import { backoffMs } from '../../retry.js';
import { Channel, type Message } from './channel.js';
import type { PrimaryCalls, WorkerCalls } from './protocol.js';

/** A worker that ends sooner than this may do so again. */
const EARLY_MS = 10_000;
const PAUSES = { firstMs: 500, longestMs: 30_000 };
/** A worker that takes so few of its messages has stopped working, and those that wait would fill the memory. */
const MOST_UNSENT = 50_000;

/** A worker process as the primary process sees it. */
export interface Worker {
  readonly channel: Channel<WorkerCalls>;
  hasJoined: boolean;
}

/** The worker processes of a server, which share its port. One that ends is replaced. */
export class WorkerProcesses {
  readonly #offer: (worker: Worker) => PrimaryCalls;
  readonly #log: Log;
  readonly #running = new Map<Process, Worker>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  #failed: ((reason: CellportError) => void) | undefined;
  #stopping = false;

  /** `offer`: what a worker can call. */
  constructor(offer: (worker: Worker) => PrimaryCalls, log: Log) {
    this.#offer = offer;
    this.#log = log;
  }

  /** Those that have joined. */
  get joined(): readonly Worker[] {
    return [...this.#running.values()].filter(({ hasJoined }) => hasJoined);
  }

  /** Starts so many; `failed` is called if one ends before `started` was called. */
  start(count: number, failed: (reason: CellportError) => void): void {
    const own = import.meta.url;
    // From source, in development, the process inherits the loader of TypeScript.
    const exec = fileURLToPath(new URL(own.endsWith('.ts') ? 'main.ts' : 'main.js', own));
    cluster.setupPrimary({ exec, args: [], serialization: 'advanced' });
    cluster.schedulingPolicy = cluster.SCHED_RR;
    this.#failed = failed;
    for (let n = 0; n < count; n += 1) this.#fork(0);
  }

  /** From now on, workers that end are replaced. */
  started(): void {
    this.#failed = undefined;
  }

  #fork(failures: number): void {
    const forked = cluster.fork();
    const channel = new Channel<WorkerCalls>((messages) => this.#send(forked, messages));
    const worker: Worker = { channel, hasJoined: false };
    const began = systemClock.now();
    channel.offer(this.#offer(worker));
    this.#running.set(forked, worker);
    forked.on('message', (messages: unknown) => {
      if (Array.isArray(messages)) channel.receive(messages as Message[]);
    });
    // Sends that fail are told to their callbacks.
    forked.on('error', () => undefined);
    forked.once('exit', (code: number | null, signal: string | null) => {
      this.#running.delete(forked);
      channel.close();
      if (this.#stopping) return;
      const again = systemClock.now() - began < EARLY_MS ? failures + 1 : 0;
      if (this.#failed) this.#failed(new CellportError('UNAVAILABLE', 'a worker process has failed to start'));
      else this.#replace(again, signal ?? `exit code ${code}`);
    });
  }

  #replace(failures: number, reason: string): void {
    this.#log.warn({ reason }, `A worker process has ended (${reason}); another one takes its place`);
    const fork = () => {
      this.#restarts.delete(timer);
      this.#fork(failures);
    };
    const timer = setTimeout(fork, failures === 0 ? 0 : backoffMs(failures - 1, PAUSES));
    this.#restarts.add(timer);
  }

  #unsent = new WeakMap<Process, number>();

  #send(forked: Process, messages: readonly Message[]): void {
    if (!forked.isConnected()) return;
    const change = (by: number) => {
      const unsent = (this.#unsent.get(forked) ?? 0) + by;
      this.#unsent.set(forked, unsent);
      return unsent;
    };
    forked.send(messages, () => change(-1));
    if (change(1) > MOST_UNSENT) forked.process.kill('SIGKILL');
  }

  /** Ends all of them: in order, those that have joined; by force after so many milliseconds. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    const ended = Array.from(this.#running, ([forked, worker]) => {
      if (worker.hasJoined) worker.channel.tell('stop');
      else forked.process.kill('SIGKILL');
      return new Promise((resolve) => forked.once('exit', resolve));
    });
    const late = setTimeout(() => {
      for (const forked of this.#running.keys()) forked.process.kill('SIGKILL');
    }, withinMs);
    await Promise.all(ended);
    clearTimeout(late);
  }
}
