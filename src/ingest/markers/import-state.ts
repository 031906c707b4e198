import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const counts = z.object({ created: z.number(), updated: z.number(), unchanged: z.number(), rejected: z.number() });

/** How many rows came to what. */
export type ImportCounts = Readonly<z.infer<typeof counts>>;

const stateShape = z.object({
  /** What is imported where; another one makes the state worthless. */
  identity: z.string(),
  /** From which the order follows in which the rows are written. */
  seed: z.number(),
  /** How many rows are markers, undefined until all are checked. */
  markers: z.number().optional(),
  /** How many of these are done: the first so many in that order. */
  written: z.number(),
  counts,
  /** Whether the collection was made by this import, so that nobody else's markers stand where its own go. */
  bulk: z.boolean(),
  done: z.boolean(),
});

/** How far an import has come, kept beside the data until it is through. */
export type ImportState = Readonly<z.infer<typeof stateShape>>;

/** Where the states of imports are kept. */
export interface ImportStateFile {
  /** The state that an interrupted import of the same content left; undefined where there is none. */
  read(): Promise<ImportState | undefined>;
  /** Replaces the state; it survives whatever happens to the process afterwards. */
  write(state: ImportState): Promise<void>;
  clear(): Promise<void>;
}

const SAMPLE_BYTES = 64 * 1024;

/** What tells one content of a file from another without reading all of it: size, time of change, its first bytes. */
export async function fileIdentity(path: string): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    const digest = createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex');
    return [resolve(path), size, mtimeMs, digest].join('|');
  } finally {
    await file.close();
  }
}

/**
 * The state file of one import under a folder. `identity` names all that the state depends on (the content, how it is read,
 * the table and the collection, each of them made anew being another one): a state of another identity is not used.
 */
export function importStateFile(folder: string, name: string, identity: string): ImportStateFile {
  const path = join(folder, `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`);
  return {
    read: async () => {
      try {
        const state = stateShape.safeParse(JSON.parse(await readFile(path, 'utf8')));
        return state.success && state.data.identity === identity ? state.data : undefined;
      } catch {
        // None, or cut off by a full disk: an import without a state begins anew, which is only slower.
        return undefined;
      }
    },
    write: async (state) => {
      await mkdir(folder, { recursive: true });
      const draft = `${path}.${process.pid}`;
      const file = await open(draft, 'w');
      try {
        await file.writeFile(JSON.stringify(state));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
    },
    clear: () => rm(path, { force: true }),
  };
}
