import { Worker } from 'node:worker_threads';

import { CellportError, type ErrorCode } from '../../errors.js';
import { IndexFull } from '../engine.js';
import type { IndexPlace } from './open.js';

/** Run from source (tests, development), a thread needs tsx; once built, plain node suffices. */
const fromSource = import.meta.url.endsWith('.ts');
const SOURCE = `require('node:module').register('tsx/esm', '${import.meta.url}', { data: true });
import('${new URL('thread.ts', import.meta.url).href}');`;

/** What a thread does with an index. */
export type Task =
  { readonly task: 'write'; readonly place: IndexPlace } | { readonly task: 'read'; readonly path: string };

/** A call to a thread, or the end of one. */
export type Asked =
  { readonly id: number; readonly method: string; readonly args: readonly unknown[] } | { readonly stop: number };

export type Answered =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: Failure };

/** An error without its class, which does not pass between threads. */
interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
}

function errorOf({ name, message, stack, code }: Failure): Error {
  if (name === 'IndexFull') return new IndexFull(message);
  if (name === 'CellportError') return new CellportError(code as ErrorCode, message);
  return Object.assign(new Error(message), { name, stack, code });
}

interface Call {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that reads or writes an index. It does not keep the process alive. */
export class IndexThread {
  readonly #worker: Worker;
  readonly #calls = new Map<number, Call>();
  #last = 0;
  #ended: Error | undefined;

  constructor(task: Task) {
    this.#worker = fromSource
      ? new Worker(SOURCE, { workerData: task, eval: true })
      : new Worker(new URL('thread.js', import.meta.url), { workerData: task });
    this.#worker.unref();
    this.#worker.on('message', (answered: Answered) => {
      const call = this.#calls.get(answered.id);
      this.#calls.delete(answered.id);
      if ('error' in answered) call?.reject(errorOf(answered.error));
      else call?.resolve(answered.value);
    });
    this.#worker.on('error', (cause) => this.#fail(cause));
    this.#worker.on('exit', () => this.#fail());
  }

  #fail(cause?: unknown): void {
    this.#ended ??= new CellportError('UNAVAILABLE', 'the thread of the search index has ended', {}, { cause });
    for (const { reject } of this.#calls.values()) reject(this.#ended);
    this.#calls.clear();
  }

  /** The result of a method of the thread, which is told when `signal` is aborted. */
  async call<T>(method: string, args: readonly unknown[] = [], signal?: AbortSignal): Promise<T> {
    if (this.#ended) throw this.#ended;
    const id = (this.#last += 1);
    const stop = () => this.#worker.postMessage({ stop: id } satisfies Asked);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#calls.set(id, { resolve: resolve as Call['resolve'], reject });
        this.#worker.postMessage({ id, method, args } satisfies Asked);
      });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Closes what the thread has opened, and ends it. */
  async close(): Promise<void> {
    if (this.#ended === undefined) await this.call('close');
    await this.end();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
