import { fork, type ChildProcess } from 'node:child_process';
import { createServer, type Socket } from 'node:net';
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
/** A worker that takes none of its messages for so long has stopped working: they would fill the memory, and its clients wait. */
const STUCK_MS = 10_000;
/** A worker that takes longer to answer the primary process is no longer waited for. */
const ANSWERS_WITHIN_MS = 1_000;
/** How long what a process has sent takes to arrive after its end. */
const LAST_MESSAGES_MS = 50;
/** Connections that wait for a worker while there is none. */
const MOST_WAITING = 1_000;

/**
 * In MB. With Node's 16, an answer of 1,000 markers takes 4.2 ms of CPU, with 32, 3.6 ms, and with 64, 3.5 ms: more of it is
 * garbage when the memory for what is young is full. One process has other cores for collecting it, workers have not.
 */
const ROOM_FOR_ANSWERS = '--max-semi-space-size=32';

/** A worker process as the primary process sees it. */
export interface Worker {
  readonly process: ChildProcess;
  readonly channel: Channel<WorkerCalls>;
  /** Connections that it has been sent but has not accepted yet, by number. */
  readonly sent: Map<number, Socket>;
  /** Messages that it has not taken yet, and when it took one, or had none, for the last time. */
  unsent: number;
  tookAt: number;
  hasJoined: boolean;
  answers: boolean;
}

/** The worker processes of a server, and the connections that are spread over them. One that ends is replaced. */
export class WorkerProcesses {
  readonly #offer: (worker: Worker) => Omit<PrimaryCalls, 'answers' | 'accepted'>;
  readonly #log: Log;
  /** The one that was sent a connection least lately comes first. */
  readonly #running = new Set<Worker>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #waiting: Socket[] = [];
  /** What accepts their connections. */
  readonly server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    this.#spread(socket);
  });
  #connections = 0;
  #failed: ((reason: CellportError) => void) | undefined;
  #stopping = false;

  /** `offer`: what a worker can call. */
  constructor(offer: (worker: Worker) => Omit<PrimaryCalls, 'answers' | 'accepted'>, log: Log) {
    this.#offer = offer;
    this.#log = log;
  }

  get #joined(): readonly Worker[] {
    return [...this.#running].filter(({ hasJoined }) => hasJoined);
  }

  /** Tells all that have joined. */
  readonly tell: Channel<WorkerCalls>['tell'] = (...call) => {
    for (const { channel } of this.#joined) channel.tell(...call);
  };

  /** The answers of all that have joined but one, and but those that end meanwhile or do not answer in time. */
  async ask<T>(of: (worker: Channel<WorkerCalls>) => Promise<T>, but?: Worker): Promise<T[]> {
    const others = this.#joined.filter((worker) => worker !== but);
    const answers: T[] = [];
    const answered = new AbortController();
    const all = Promise.allSettled(others.map(async ({ channel }) => answers.push(await of(channel))));
    await Promise.race([all, systemClock.sleep(ANSWERS_WITHIN_MS, answered.signal)]);
    answered.abort();
    return [...answers];
  }

  /** Asks all but one to note something, and waits until they have. */
  async note(but: Worker, of: (worker: Channel<WorkerCalls>) => Promise<void>): Promise<void> {
    await this.ask(of, but);
  }

  /** The first answer of any that has joined; undefined if there is none. */
  first<T>(of: (worker: Channel<WorkerCalls>) => Promise<T>): Promise<T | undefined> {
    return Promise.any(this.#joined.map(({ channel }) => of(channel))).catch(() => undefined);
  }

  /** Starts so many, and resolves when they answer. Throws UNAVAILABLE if one of them ends before. */
  async start(count: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#failed = reject;
      let answering = 0;
      const began = () => {
        answering += 1;
        if (answering === count) resolve();
      };
      for (let n = 0; n < count; n += 1) this.#fork(0, began);
    });
    this.#failed = undefined;
  }

  #fork(failures: number, began = () => undefined as void): void {
    const own = import.meta.url;
    // From source, in development, the process inherits the loader of TypeScript.
    const main = fileURLToPath(new URL(own.endsWith('.ts') ? 'main.ts' : 'main.js', own));
    const child = fork(main, [], { serialization: 'advanced', execArgv: [ROOM_FOR_ANSWERS, ...process.execArgv] });
    const channel = new Channel<WorkerCalls>((messages) => this.#send(worker, messages));
    const worker: Worker = {
      process: child,
      channel,
      sent: new Map(),
      unsent: 0,
      tookAt: 0,
      hasJoined: false,
      answers: false,
    };
    const at = systemClock.now();
    channel.offer<PrimaryCalls>({
      ...this.#offer(worker),
      answers: (answers) => {
        worker.answers = answers;
        if (!answers) return;
        began();
        for (const socket of this.#waiting.splice(0)) this.#spread(socket);
      },
      // Its process has the connection now, and this one no longer needs it.
      accepted: (number) => {
        worker.sent.get(number)?.destroy();
        worker.sent.delete(number);
      },
    });
    this.#running.add(worker);
    child.on('message', (messages) => channel.receive(messages as Message[]));
    // What cannot be sent is told to its callback.
    child.on('error', () => undefined);
    child.once('exit', (code, signal) => {
      this.#running.delete(worker);
      // Its last messages may say that it has accepted some.
      setTimeout(() => {
        channel.close();
        for (const socket of worker.sent.values()) this.#spread(socket);
      }, LAST_MESSAGES_MS);
      if (this.#stopping) return;
      const again = systemClock.now() - at < EARLY_MS ? failures + 1 : 0;
      if (this.#failed) this.#failed(new CellportError('UNAVAILABLE', 'a worker process has failed to start'));
      else this.#replace(again, signal ?? `exit code ${code}`);
    });
  }

  #replace(failures: number, reason: string): void {
    const advice = reason === 'SIGKILL' ? '; if this repeats, memory is short' : '';
    this.#log.warn({ reason }, `A worker process has ended (${reason}); another one takes its place${advice}`);
    const again = () => {
      this.#restarts.delete(timer);
      this.#fork(failures);
    };
    const timer = setTimeout(again, failures === 0 ? 0 : backoffMs(failures - 1, PAUSES));
    this.#restarts.add(timer);
  }

  #send(worker: Worker, messages: readonly Message[]): void {
    if (!worker.process.connected) return;
    const took = () => (worker.tookAt = systemClock.now());
    if (worker.unsent === 0) took();
    worker.unsent += 1;
    worker.process.send(messages, () => {
      worker.unsent -= 1;
      took();
    });
    if (systemClock.now() - worker.tookAt > STUCK_MS) worker.process.kill('SIGKILL');
  }

  /** Gives a connection to the workers in turn, but first to those that accept at once. */
  #spread(socket: Socket): void {
    const answering = [...this.#running].filter(({ answers }) => answers);
    const [worker] = answering.toSorted((a, b) => a.sent.size - b.sent.size);
    if (worker === undefined) {
      if (this.#waiting.length < MOST_WAITING && !this.#stopping) this.#waiting.push(socket);
      else socket.destroy();
      return;
    }
    this.#running.delete(worker);
    this.#running.add(worker);
    const number = (this.#connections += 1);
    worker.sent.set(number, socket);
    // Should it end before it has accepted, the connection is still here, and goes to another.
    worker.process.send({ connection: number }, socket, { keepOpen: true }, () => undefined);
  }

  /** Ends all of them: in order, those that have joined, for which they have so long after they have drained. */
  async stop(drainMs: number, withinMs: number): Promise<void> {
    this.#stopping = true;
    const drained = setTimeout(() => this.server.close(), drainMs);
    for (const timer of this.#restarts) clearTimeout(timer);
    const ended = Array.from(this.#running, ({ process: child, hasJoined, channel }) => {
      if (hasJoined) channel.tell('stop');
      else child.kill('SIGKILL');
      return new Promise((resolve) => child.once('exit', resolve));
    });
    const late = setTimeout(() => {
      for (const { process: child } of this.#running) child.kill('SIGKILL');
    }, drainMs + withinMs);
    await Promise.all(ended);
    for (const timer of [drained, late]) clearTimeout(timer);
    this.server.close();
    for (const socket of this.#waiting) socket.destroy();
  }
}
