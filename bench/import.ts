import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';

import type { CollectionInput } from '../src/store/collection/collection-item.js';
import { createCollection } from '../src/store/collection/collections.js';
import type { DatabaseOptions } from '../src/store/create-database.js';
import { newCall, type Item } from '../src/store/database.js';
import { newMarkerItem } from '../src/store/marker/marker-item.js';
import { mapConcurrently } from '../src/store/request/pacing.js';
import { randomFrom } from '../test/support/random.js';
import { withFreshTables, type TableOptions } from './rig/fresh-tables.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const ROWS = 60_000;
const MANY_ROWS = 1_000_000;
const ROUNDS = 3;
const LEAST_RATIO = 0.8;
const MOST_BYTES = 300_000_000;
const ITEMS_IN_A_BATCH = 25;
/** Concurrent writes, as many as an import makes. */
const BATCHES_AT_A_TIME = 12;
const SEED = 7;

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A file and the tables it is imported into. */
interface Task {
  readonly path: string;
  readonly dataDir: string;
  readonly collection: string;
  readonly database: DatabaseOptions;
}

interface Result {
  readonly created: number;
  readonly ms: number;
  readonly peakBytes: number;
}

/** Rows like those of a list of stops, about 200 bytes each; neighboring rows are close together on the map. */
function* markers(count: number) {
  const chance = randomFrom(SEED);
  for (let at = 0; at < count; at += 1) {
    const along = at / count;
    yield {
      key: `stop-${String(at).padStart(8, '0')}`,
      position: {
        lng: Math.round((along * 360 - 180) * 1e6) / 1e6,
        lat: Math.round((chance() * 140 - 70) * 1e6) / 1e6,
      },
      name: `Stop number ${at}`,
      category: ['bus', 'tram', 'rail', 'ferry'][Math.floor(chance() * 4)] ?? 'bus',
      properties: {
        operator: `Operator ${Math.floor(chance() * 500)}`,
        platforms: Math.floor(chance() * 12),
        open: true,
      },
    };
  }
}

async function writeRows(path: string, count: number): Promise<void> {
  const file = createWriteStream(path);
  for (const marker of markers(count)) {
    if (!file.write(`${JSON.stringify(marker)}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

/** Runs the built import in a separate process. */
async function load(task: Task): Promise<Result> {
  const child = spawn(process.execPath, ['bench/import/load.mjs', JSON.stringify(task)], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the import exited with code ${code}`);
  return JSON.parse(text) as Result;
}

const COLLECTION: CollectionInput = { key: 'stops', name: 'stops' };

/** Items per second of a bare BatchWriteItem loop, with all items prepared in advance. */
function bareLoop(count: number): Promise<number> {
  return withFreshTables(async ({ database }) => {
    const now = new Date().toISOString();
    const collection = await createCollection(newCall(database), COLLECTION, now);
    const items = Array.from(markers(count), (marker) => newMarkerItem(database, collection, marker, now));
    const batches: Item[][] = [];
    for (let at = 0; at < items.length; at += ITEMS_IN_A_BATCH) batches.push(items.slice(at, at + ITEMS_IN_A_BATCH));
    const began = performance.now();
    await mapConcurrently(batches, BATCHES_AT_A_TIME, async (batch) => {
      const puts = batch.map((item) => ({ PutRequest: { Item: { ...item } } }));
      const { UnprocessedItems } = await database.client.send(
        new BatchWriteCommand({ RequestItems: { [database.tables.entities]: puts } }),
      );
      if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('DynamoDB Local left items unprocessed');
    });
    return (count / (performance.now() - began)) * 1000;
  });
}

function importOf(path: string, dataDir: string, count: number, tables: TableOptions = {}): Promise<Result> {
  return withFreshTables(async ({ options }) => {
    const result = await load({ path, dataDir, collection: COLLECTION.key, database: options });
    if (result.created !== count) throw new Error(`${result.created} markers created from ${count} rows`);
    return result;
  }, tables);
}

const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

async function run({ say }: BenchOptions): Promise<Section> {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: ROOT });
  const folder = await mkdtemp(join(tmpdir(), 'cellport-bench-'));
  try {
    const path = join(folder, 'rows.ndjson');
    await writeRows(path, ROWS);
    const rounds: { bare: number; imported: number }[] = [];
    const measureImport = async (): Promise<number> => {
      const { created, ms } = await importOf(path, folder, ROWS);
      return (created / ms) * 1000;
    };
    for (let round = 1; round <= ROUNDS; round += 1) {
      // The order alternates, so that a drift of the machine's speed favors neither.
      const early = round % 2 === 0 ? await measureImport() : undefined;
      const bare = await bareLoop(ROWS);
      const imported = early ?? (await measureImport());
      rounds.push({ bare, imported });
      say(`import, round ${round}: ${grouped(imported)} items/s, bare loop ${grouped(bare)}`);
    }
    const ratios = rounds.map(({ bare, imported }) => imported / bare).toSorted((a, b) => a - b);
    const ratio = ratios[Math.floor(ratios.length / 2)] ?? 0;
    const mean = (of: (round: { bare: number; imported: number }) => number): number =>
      rounds.reduce((sum, round) => sum + of(round), 0) / rounds.length;

    const many = join(folder, 'many.ndjson');
    await writeRows(many, MANY_ROWS);
    say(`import of ${grouped(MANY_ROWS)} rows to measure memory; this takes minutes`);
    const { peakBytes, ms } = await importOf(many, folder, MANY_ROWS, { stream: false });
    return {
      title: 'Import',
      rows: [
        {
          what: `import of ${grouped(ROWS)} rows, relative to a bare BatchWriteItem loop`,
          bar: `at least ${LEAST_RATIO}`,
          measured: `${ratio.toFixed(2)} (${grouped(mean(({ imported }) => imported))} items/s)`,
          against: `${grouped(mean(({ bare }) => bare))} items/s`,
          holds: ratio >= LEAST_RATIO,
        },
        {
          what: `peak memory of an import of ${grouped(MANY_ROWS)} rows`,
          bar: `under ${megabytes(MOST_BYTES)}`,
          measured: `${megabytes(peakBytes)} (${grouped((MANY_ROWS / ms) * 1000)} items/s)`,
          against: '',
          holds: peakBytes < MOST_BYTES,
        },
      ],
      isDetail: true,
      text: 'The tables of the million rows have no stream.',
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const imports: Benchmark = { name: 'import', hasCounts: false, run };
