import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

import { openMarkers } from '../../src/ingest/markers/marker-reader.js';
import { formatOf } from '../../src/ingest/read/file-format.js';
import { isInvalid, type Row } from '../../src/ingest/read/row.js';
import type { ReadOptions } from '../../src/ingest/rows/fields.js';
import type { MarkerRow } from '../../src/ingest/rows/marker-row.js';
import { Notes } from '../../src/ingest/rows/notes.js';

/** What an import reads from a file of some name, and what it says about it. */
export async function readRows(name: string, content: string | Uint8Array, options?: ReadOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'cellport-rows-'));
  try {
    const path = join(folder, name);
    await writeFile(path, content);
    const source = await openMarkers(path, formatOf(path), options, folder);
    try {
      const notes = new Notes();
      const rows: Row<MarkerRow>[] = [];
      for await (const some of source.scan()) rows.push(...some);
      rows.forEach((row) => notes.add(row));
      const markers = rows.flatMap(({ content: each }) => (isInvalid(each) ? [] : [each]));
      expect(await source.read(rows.filter((row) => !isInvalid(row.content)))).toEqual(markers);
      const rejects = rows.flatMap(({ line, content: each }) =>
        isInvalid(each) ? [[line, each.reason] as const] : [],
      );
      return { markers, rejects, said: [...(await source.notes()), ...notes.lines()] };
    } finally {
      await source.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
