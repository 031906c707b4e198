import { parentPort, workerData } from 'node:worker_threads';

import { fullDisk } from '../../disk.js';
import type { SearchChange } from '../engine.js';
import type { Task, ThreadAnswer, ThreadCall } from './call-thread.js';
import { openIndexFiles, openReader } from './open.js';
import { readerOf } from './read.js';
import { IndexWriter } from './write.js';

// SQLite is synchronous: a commit that merges a full-text index takes a second, a count as long as there are documents.
// Here nobody else waits for it.

async function open(task: Task) {
  if (task.task === 'read') return readerOf(await openReader(task.path));
  const files = await openIndexFiles(task.place);
  const index = new IndexWriter(files.writer, () => fullDisk(task.place.folder));
  return {
    path: () => files.path,
    write: (changes: readonly SearchChange[], checkpoint: string, now: number) => index.write(changes, checkpoint, now),
    clear: () => index.clear(),
    close: () => files.close(),
  };
}

const opening = open(workerData as Task) as Promise<object>;
// Each call reports it.
opening.catch(() => undefined);

async function answer({ method, args, port }: ThreadCall): Promise<void> {
  const stop = new AbortController();
  port.once('close', () => stop.abort());
  const reply = (answered: ThreadAnswer) => port.postMessage(answered);
  try {
    const methods = (await opening) as Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;
    reply({ value: await methods[method]?.(...args, stop.signal) });
  } catch (thrown) {
    const { message, name, code } = thrown as Error & { readonly code?: string };
    // SQLite's errors are not native ones, so a clone would have no message.
    reply({ error: new Error(message), name, code });
  }
}

let last = Promise.resolve();
parentPort?.on('message', (call: ThreadCall) => {
  last = last.then(() => answer(call));
});
