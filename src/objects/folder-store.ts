import { randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { PRIVATE_FILE, PRIVATE_FOLDER } from '../private-files.js';
import { storeFailed } from './failures.js';
import { checkObjectName, isObjectName, type ObjectStore } from './object-store.js';

/** Subfolder for files being written: on the same file system as the objects, so that renaming is atomic. */
const WRITING = '.writing';

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;
/** Error codes for a path that is not a file: a part is missing or not a folder, or the path is a folder. */
const NO_FILE: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'EISDIR'];

/** Waits until a folder's entries are on disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Creates a folder durably, with its missing parents. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, PRIVATE_FOLDER);
  if (first === undefined) return;
  for (let made = path; made !== dirname(first); made = dirname(made)) await syncFolder(dirname(made));
}

/** Paths of the files in a folder and its subfolders, relative to it. */
async function* filesIn(folder: string, prefix = ''): AsyncGenerator<string> {
  let entries;
  try {
    entries = await opendir(join(folder, prefix));
  } catch (error) {
    if (NO_FILE.includes(codeOf(error))) return;
    throw error;
  }
  for await (const entry of entries) {
    const name = prefix + entry.name;
    if (entry.isDirectory()) yield* filesIn(folder, `${name}/`);
    else if (entry.isFile()) yield name;
  }
}

/** An object store in a folder, which is created with the first object. */
export function createFolderStore(folder: string): ObjectStore {
  const pathOf = (name: string): string => join(folder, name);
  return {
    place: folder,
    async put(name, body) {
      checkObjectName(name);
      const path = pathOf(name);
      const half = join(folder, WRITING, randomUUID());
      try {
        await makeFolder(dirname(half));
        await makeFolder(dirname(path));
        await writeFile(half, body, { flag: 'wx', flush: true, ...PRIVATE_FILE });
        await rename(half, path);
        await syncFolder(dirname(path));
      } catch (error) {
        await rm(half, { force: true }).catch(() => undefined);
        throw storeFailed(folder, error);
      }
    },
    async get(name) {
      if (!isObjectName(name)) return undefined;
      try {
        return await readFile(pathOf(name));
      } catch (error) {
        if (NO_FILE.includes(codeOf(error))) return undefined;
        throw storeFailed(folder, error);
      }
    },
    async remove(name) {
      if (!isObjectName(name)) return;
      try {
        await unlink(pathOf(name));
      } catch (error) {
        if (!NO_FILE.includes(codeOf(error))) throw storeFailed(folder, error);
      }
    },
    async *list() {
      try {
        for await (const name of filesIn(folder)) {
          if (!isObjectName(name)) continue;
          // The file may have been removed since its name was read.
          const file = await stat(pathOf(name)).catch(() => undefined);
          if (file !== undefined) yield { name, modifiedAt: file.mtime };
        }
      } catch (error) {
        throw storeFailed(folder, error);
      }
    },
  };
}
