import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { systemClock } from '../clock.js';
import type { DocumentsByHash } from '../graphql/execution/persisted.js';
import type { Log } from '../log.js';
import { newCall, type Database } from '../store/database.js';
import { documentsVersion, listDocuments } from '../store/document/documents.js';

/** A removed document is refused after this time, on every server. */
const LOOK_EVERY_MS = 1_000;

/** The documents of the map page, which its build lists beside it; none if it is not built. */
async function pageDocuments(mapDir = ''): Promise<[hash: string, text: string][]> {
  const list = await readFile(join(mapDir, 'documents.json'), 'utf8').catch(() => '{}');
  return Object.entries(JSON.parse(list) as Record<string, string>);
}

/**
 * Returns a function that resolves to the trusted documents, with those of the map page in `mapDir`. It looks for changes
 * if it has not done so for a second, and rejects only if it has never read them.
 */
export function followDocuments(database: Database, mapDir: string | undefined, log: Log) {
  let known: { readonly version: number; readonly documents: DocumentsByHash } | undefined;
  let lookedAt = -Infinity;
  let looking = Promise.resolve();

  async function look(): Promise<void> {
    lookedAt = systemClock.now();
    const version = await documentsVersion(newCall(database));
    if (version === known?.version) return;
    const listed = await listDocuments(newCall(database));
    const texts = listed.flatMap(({ hash, printedHash, text }) =>
      [hash, printedHash].map((each) => [each, text] as const),
    );
    known = { version, documents: new Map([...(await pageDocuments(mapDir)), ...texts]) };
  }

  return async (): Promise<DocumentsByHash> => {
    if (systemClock.now() - lookedAt >= LOOK_EVERY_MS) looking = look();
    await looking.catch((err: unknown) => {
      if (known === undefined) throw err;
      log.warn({ err }, 'Cannot read the list of trusted documents; retrying');
    });
    return known?.documents ?? new Map<string, string>();
  };
}
