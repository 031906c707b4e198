import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';

import { CellportError, type ErrorCode } from '../../errors.js';
import { IndexFault, IndexFull } from '../engine.js';
import type { IndexPlace } from './open.js';

/** What a thread does with an index. */
export type Task =
  { readonly task: 'write'; readonly place: IndexPlace } | { readonly task: 'read'; readonly path: string };

/** A call to a thread, which answers at the port. Closing the port stops it. */
export interface ThreadCall {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly port: MessagePort;
}

/** An error passes between threads without its class, and what that adds. */
export type ThreadAnswer =
  { readonly value: unknown } | { readonly error: Error; readonly name: string; readonly code: string | undefined };

/** Run from source (tests, development), a thread needs tsx; once built, plain node suffices. */
const FROM_SOURCE = `require('node:module').register('tsx/esm', '${import.meta.url}', { data: true });
import('${new URL('thread.ts', import.meta.url).href}');`;

/** A thread that reads or writes an index, one call at a time. It does not keep the process alive. */
export class IndexThread {
  readonly #worker: Worker;
  #fault: unknown;

  constructor(task: Task) {
    this.#worker = import.meta.url.endsWith('.ts')
      ? new Worker(FROM_SOURCE, { workerData: task, eval: true })
      : new Worker(new URL('thread.js', import.meta.url), { workerData: task });
    this.#worker.unref();
    this.#worker.on('error', (cause) => {
      this.#fault = cause;
    });
  }

  #ended(): IndexFault {
    return new IndexFault(new Error('the thread of the search index has ended', { cause: this.#fault }));
  }

  /** The result of a method of the thread. Throws the reason of `signal` once it is aborted, and stops the method. */
  async call<T>(method: string, args: readonly unknown[] = [], signal?: AbortSignal): Promise<T> {
    if (this.#worker.threadId < 0) throw this.#ended();
    const { port1, port2 } = new MessageChannel();
    const stop = () => port1.close();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await new Promise<T>((resolve, reject) => {
        port1.once('message', (answer: ThreadAnswer) => {
          if ('value' in answer) resolve(answer.value as T);
          else if (answer.name === 'IndexFull') reject(new IndexFull(answer.error.message));
          else if (answer.name !== 'CellportError')
            reject(new IndexFault(Object.assign(answer.error, { code: answer.code })));
          else reject(new CellportError(answer.code as ErrorCode, answer.error.message));
        });
        port1.once('close', () => reject(signal?.aborted === true ? (signal.reason as Error) : this.#ended()));
        this.#worker.postMessage({ method, args, port: port2 } satisfies ThreadCall, [port2]);
      });
    } finally {
      signal?.removeEventListener('abort', stop);
      port1.close();
    }
  }

  /** Closes what the thread has opened, unless that failed, and ends it. */
  async close(): Promise<void> {
    await this.call('close').catch(() => undefined);
    await this.#worker.terminate();
  }
}
