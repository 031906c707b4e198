import { parentPort, workerData } from 'node:worker_threads';

import type { SearchChange } from '../engine.js';
import type { Answered, Asked, Task } from './call-thread.js';
import { openIndexFiles, openReader } from './open.js';
import { readerOf } from './reader.js';
import { IndexWriter } from './write.js';

// SQLite is synchronous: a commit that merges a full-text index takes a second, a count as long as there are documents.
// Here nobody else waits for it.

type Method = (...args: never[]) => unknown;

async function openToWrite(place: Extract<Task, { task: 'write' }>['place']): Promise<Record<string, Method>> {
  const { path, writer, close } = await openIndexFiles(place);
  const index = new IndexWriter(writer);
  return {
    path: () => path,
    write: (changes: readonly SearchChange[], checkpoint: string, now: number) => index.write(changes, checkpoint, now),
    clear: () => index.clear(),
    close,
  };
}

async function open(task: Task): Promise<Record<string, Method>> {
  if (task.task === 'write') return openToWrite(task.place);
  const { search, count, checkpoint, close } = readerOf(await openReader(task.path));
  return { search, count, checkpoint, close };
}

const opening = open(workerData as Task);
// Each call reports it.
opening.catch(() => undefined);
const running = new Map<number, AbortController>();

async function answer({ id, method, args }: Exclude<Asked, { stop: number }>): Promise<Answered> {
  const stop = new AbortController();
  running.set(id, stop);
  try {
    const call = (await opening)[method] as ((...given: readonly unknown[]) => unknown) | undefined;
    return { id, value: await call?.(...args, stop.signal) };
  } catch (error) {
    const { name, message, stack, code } = error as Error & { readonly code?: string };
    return { id, error: { name, message, stack, code } };
  } finally {
    running.delete(id);
  }
}

parentPort?.on('message', (asked: Asked) => {
  if ('stop' in asked) running.get(asked.stop)?.abort();
  else void answer(asked).then((answered) => parentPort?.postMessage(answered));
});
