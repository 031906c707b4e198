import { randomBytes } from 'node:crypto';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const PIECES = 16;
const PIECE_BYTES = 64 * 1024;

const reserveFile = (dataDir: string) => join(dataDir, 'reserve');

/** Takes space, as far as there is any, that the next start needs if the disk is full by then. */
export function takeReserve(dataDir: string): void {
  try {
    // Random, because some file systems would need no space for zeros.
    for (let piece = 0; piece < PIECES; piece += 1) appendFileSync(reserveFile(dataDir), randomBytes(PIECE_BYTES));
  } catch {
    // The disk is full: what has been taken stays.
  }
}

/** Gives the space up, for the keeper's file and the index that SQLite makes of its log. */
export function giveUpReserve(dataDir: string): void {
  rmSync(reserveFile(dataDir), { force: true });
}
