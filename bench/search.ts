import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';

import { silentLog } from '../src/log.js';
import { FleetSearch, OwnSearch, type ServerSearch } from '../src/server/search.js';
import { createCollection } from '../src/store/collection/collections.js';
import { newCall, type Database } from '../src/store/database.js';
import { newMarkerItem } from '../src/store/marker/marker-item.js';
import { putInBulk } from '../src/store/request/batches.js';
import { chunks } from '../src/store/request/pacing.js';
import { createStreamsClient } from '../src/stream/source/dynamodb.js';
import { HAS_OPENSEARCH, OpenSearchServer } from '../test/services/opensearch-server.js';
import { randomFrom } from '../test/support/random.js';
import { withFreshTables } from './rig/fresh-tables.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { quantile, shown, sum } from './rig/statistics.js';
import { measure, type Measured } from './search/measure.js';
import { KINDS, questionsAbout, type Questions } from './search/questions.js';
import { Scan } from './search/recall.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const SEED = 20_261_124;
const CREATED = '2026-11-21T00:00:00.000Z';
const PORTION = 5_000;
const RECALL_BAR = 0.94;
/** Each is compared with a scan of all names. */
const MOST_SCANNED = 100;
const LABELS = {
  prefix: 'one to six letters',
  typo: 'names with a typo',
  bounds: 'within bounds',
  near: 'near a position',
};

/** Writes the cities, then turns the stream on: an index begins with the table, as those of a server that is up to date. */
async function fill(db: Database, markers: readonly BenchMarker[]) {
  const input = { key: 'cities', name: 'Cities', rankBy: 'population', prefixLength: 2 };
  const collection = await createCollection(newCall(db), input, CREATED);
  for (const some of chunks(markers, PORTION)) {
    const items = some.map((marker) => newMarkerItem(db, collection, marker, CREATED));
    await putInBulk({ ...newCall(db), unpriced: true }, db.tables.entities, items);
  }
  const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;
  await db.client.send(new UpdateTableCommand({ TableName: db.tables.entities, StreamSpecification }));
  return collection;
}

/** The figures of one engine, by what was measured. */
interface Figures {
  readonly built: string;
  readonly took: Readonly<Record<keyof typeof LABELS, string>>;
  readonly recall: number;
  readonly found: string;
}

function figuresOf(cities: number, scan: Scan, questions: Questions, measured: Measured): Figures {
  const { documentsPerSecond, took, typoKeys, delays } = measured;
  const recalls = typoKeys
    .slice(0, MOST_SCANNED)
    .map((keys, index) => scan.recall(questions.typo[index]?.words ?? [], keys));
  const quantiles = (all: readonly number[]) => `${shown(quantile(all, 0.5), 2)} / ${shown(quantile(all, 0.99), 1)}`;
  const whole = (fraction: number) => shown(quantile(delays, fraction), 0);
  return {
    built: `${shown(documentsPerSecond, 0)} (${shown(cities / documentsPerSecond)} s)`,
    took: {
      prefix: quantiles(took.prefix),
      typo: quantiles(took.typo),
      bounds: quantiles(took.bounds),
      near: quantiles(took.near),
    },
    recall: sum(recalls.map(({ found }) => found)) / sum(recalls.map(({ of }) => of)),
    found: `${whole(0.5)} / ${whole(0.99)}`,
  };
}

/** The figures of the embedded engine beside those of OpenSearch, if that was measured. */
function rowsOf(own: Figures, other: Figures | undefined): Row[] {
  const row = (what: string, of: (figures: Figures) => string): Row => {
    return { what, bar: '', measured: of(own), against: other ? of(other) : '' };
  };
  const percent = ({ recall }: Figures) => `${shown(recall * 100)}%`;
  return [
    row('documents indexed per second', ({ built }) => built),
    ...KINDS.map((kind) => ({
      ...row(LABELS[kind], ({ took }) => took[kind]),
      isDetail: kind === 'bounds' || kind === 'near',
    })),
    {
      ...row('recall of the ten best with a typo', percent),
      bar: `at least ${shown(RECALL_BAR * 100, 0)}%`,
      holds: [own, other].every((figures) => figures === undefined || figures.recall >= RECALL_BAR),
    },
    row('from a write until it is found', ({ found }) => found),
  ];
}

async function run({ quick, say }: BenchOptions): Promise<Section> {
  const markers = cityMarkers().filter((_, index) => !quick || index % 20 === 0);
  const questions = questionsAbout(markers, quick ? 40 : 400, randomFrom(SEED));
  const scan = new Scan(markers);
  const writes = quick ? 10 : 100;
  const folder = await mkdtemp(join(tmpdir(), 'cellport-bench-'));
  const cluster = HAS_OPENSEARCH ? await OpenSearchServer.create() : undefined;
  try {
    return await withFreshTables(
      async ({ database: db, engine }) => {
        say('loading the cities');
        const collection = await fill(db, markers);
        const streams = createStreamsClient(engine);
        const backend = { database: db, streams };
        const figuresFor = async (name: string, search: ServerSearch) => {
          say(name);
          try {
            const plan = { db, collection, questions, word: `qxz${name}`.toLowerCase(), writes };
            return figuresOf(markers.length, scan, questions, await measure(search, plan));
          } finally {
            await search.stop();
          }
        };
        const own = { searchBytes: 2 ** 30, dataDir: folder };
        const embedded = await figuresFor('SQLite', new OwnSearch(own, backend, silentLog));
        const other =
          cluster && (await figuresFor('OpenSearch', new FleetSearch(await cluster.start(), backend, silentLog)));
        streams.destroy();
        return {
          title: `Search over ${markers.length.toLocaleString('en')} cities`,
          rows: rowsOf(embedded, other),
          text: 'First the index in a file, then one node of OpenSearch. Times are in ms, p50 / p99, of one request at a time with ten results, which are not read from the table.',
          isDetail: true,
        };
      },
      { stream: false },
    );
  } finally {
    await cluster?.close();
    await rm(folder, { recursive: true });
  }
}

export const search: Benchmark = { name: 'search', hasCounts: false, run };
