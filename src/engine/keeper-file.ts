import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { KeeperAddress } from './protocol.js';

/** What a keeper stores in its data folder for other processes and for the next keeper. */
export interface KeeperFile extends KeeperAddress {
  /** The Java process; null before it starts. */
  readonly java: { readonly pid: number } | null;
}

/** The path of a data folder's keeper file. */
export const keeperFile = (dataDir: string): string => join(dataDir, 'keeper.json');

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;

/** Reads the keeper file; undefined if it is missing or damaged: starting requires nothing from it. */
export function readKeeperFile(path: string): KeeperFile | undefined {
  try {
    const { port, token, java } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<string, unknown>>;
    if (!isPort(port) || typeof token !== 'string') return undefined;
    const { pid }: { pid?: unknown } = typeof java === 'object' && java !== null ? java : {};
    return { port, token, java: typeof pid === 'number' ? { pid } : null };
  } catch {
    return undefined;
  }
}

/** Replaces the keeper file. */
export function writeKeeperFile(path: string, file: KeeperFile): void {
  writeFileSync(`${path}.new`, JSON.stringify(file), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
