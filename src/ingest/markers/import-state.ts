import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';

import { CellportError } from '../../errors.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../private-files.js';

const counts = z.object({ created: z.number(), updated: z.number(), unchanged: z.number(), rejected: z.number() });

/** Number of rows by outcome. */
export type ImportCounts = Readonly<z.infer<typeof counts>>;

const stateShape = z.object({
  /** Identifies the source and the target; a state with another identity is ignored. */
  identity: z.string(),
  /** Determines the order in which rows are written, if shuffled. */
  seed: z.number(),
  order: z.enum(['shuffled', 'given']).default('shuffled'),
  /** Valid rows; undefined until all are checked. */
  markers: z.number().optional(),
  /** Number of rows completed, counted in that order. */
  written: z.number(),
  counts,
  /** Whether this import created the collection, so that it has no other markers. */
  bulk: z.boolean(),
  done: z.boolean(),
});

/** The progress of an import, kept until it is complete. */
export type ImportState = Readonly<z.infer<typeof stateShape>>;

export interface ImportStateFile {
  /** The state of an interrupted import of the same content; undefined if there is none. */
  read(): Promise<ImportState | undefined>;
  /** Replaces the state durably. Throws UNAVAILABLE if that fails, as on a full disk. */
  write(state: ImportState): Promise<void>;
  clear(): Promise<void>;
}

const SAMPLE_BYTES = 64 * 1024;

/** Identifies a file's content without reading all of it: by path, size, modification time and first bytes. */
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

/** The folder of the state files, and of temporary files of imports. */
export const importsFolder = (dataDir: string): string => join(dataDir, 'imports');

/**
 * The state file of one import in a folder. `identity` names everything that the state depends on: the content, how it is
 * read, the table and the collection. A state with another identity is ignored.
 */
export function importStateFile(folder: string, name: string, identity: string): ImportStateFile {
  const path = join(folder, `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`);
  return {
    read: async () => {
      try {
        const state = stateShape.safeParse(JSON.parse(await readFile(path, 'utf8')));
        return state.success && state.data.identity === identity ? state.data : undefined;
      } catch {
        // Missing, or truncated by a full disk: starting over is only slower.
        return undefined;
      }
    },
    write: async (state) => {
      const draft = `${path}.${process.pid}`;
      try {
        await mkdir(folder, PRIVATE_FOLDER);
        await writeFile(draft, JSON.stringify(state), { flush: true, ...PRIVATE_FILE });
        await rename(draft, path);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        const advice = 'once that is mended, repeat the command, which then resumes';
        const message = `cannot keep the progress of the import in ${folder}: ${reason}; ${advice}`;
        throw new CellportError('UNAVAILABLE', message, { folder }, { cause });
      }
    },
    clear: () => rm(path, { force: true }),
  };
}
