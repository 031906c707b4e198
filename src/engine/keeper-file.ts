import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PRIVATE_FILE } from '../private-files.js';
import type { KeeperAddress } from './protocol.js';

/** What a keeper stores in its data folder for other processes and for the next keeper. */
export interface KeeperFile extends KeeperAddress {
  /** The Java process; null before it starts. */
  readonly java: { readonly pid: number } | null;
  /** The inode of the folder while an engine runs there. */
  readonly inode?: string | undefined;
}

/** The path of a data folder's keeper file. */
export const keeperFile = (dataDir: string): string => join(dataDir, 'keeper.json');

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;

/** Reads the keeper file; undefined if it is missing or damaged: starting requires nothing from it. */
export function readKeeperFile(path: string): KeeperFile | undefined {
  try {
    const { port, token, java, inode } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<string, unknown>>;
    if (!isPort(port) || typeof token !== 'string') return undefined;
    const { pid }: { pid?: unknown } = typeof java === 'object' && java !== null ? java : {};
    return {
      port,
      token,
      java: typeof pid === 'number' ? { pid } : null,
      inode: typeof inode === 'string' ? inode : undefined,
    };
  } catch {
    return undefined;
  }
}

const inodeOf = (dataDir: string) => String(statSync(dataDir, { bigint: true }).ino);

/** Identifies a folder, whichever path leads to it, while it exists. A copy of it is another folder. */
export const folderIdentity = (dataDir: string): string =>
  `${statSync(dataDir, { bigint: true }).dev}:${inodeOf(dataDir)}`;

/** Whether a data folder is a copy of another one that was made while an engine ran there. */
export function isCopyInUse(dataDir: string): boolean {
  const file = readKeeperFile(keeperFile(dataDir));
  return file?.inode !== undefined && file.inode !== inodeOf(dataDir);
}

/** Replaces the keeper file of a folder. */
export function writeKeeperFile(dataDir: string, file: KeeperFile, inUse: boolean): void {
  const path = keeperFile(dataDir);
  writeFileSync(`${path}.new`, JSON.stringify({ ...file, inode: inUse ? inodeOf(dataDir) : undefined }), PRIVATE_FILE);
  renameSync(`${path}.new`, path);
}
