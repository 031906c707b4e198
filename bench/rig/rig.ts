import type { EngineAddress } from '../../src/engine/start.js';
import { addSums, NO_SUMS, sumsOf, type CellSums } from '../../src/geo/cell-sums.js';
import { encode } from '../../src/geo/geohash.js';
import type { Services } from '../../src/graphql/context.js';
import { GraphqlServer } from '../../src/graphql/server.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { CollectionCache } from '../../src/loaders/collection-cache.js';
import { ConsumerTrust } from '../../src/loaders/consumer-trust.js';
import { silentLog } from '../../src/log.js';
import { LONGEST_BLOCK } from '../../src/model/cell.js';
import type { Collection } from '../../src/model/collection.js';
import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { storedReport } from '../../src/server/consumer.js';
import { createServices } from '../../src/server/services.js';
import { attributesOfBlock } from '../../src/store/cell/cells.js';
import { putStreamState } from '../../src/store/cell/stream-state.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall, type Database, type Item } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { putInBulk } from '../../src/store/request/batches.js';
import { firstState } from '../../src/stream/state.js';
import { testPages } from '../../test/support/page-services.js';
import { addPages } from './add-pages.js';
import { openFreshTables } from './fresh-tables.js';
import type { BenchMarker } from './points.js';
import { watchWire, type Wire } from './wire.js';

/** A new engine and a server over it. */
export interface Rig {
  readonly engine: EngineAddress;
  readonly db: Database;
  /** Creates a collection with these markers and their cells. */
  fill(key: string, markers: Iterable<BenchMarker>, prefixLength?: number): Promise<Collection>;
  readonly wire: Wire;
  readonly services: Services;
  /** Executes a GraphQL query as the HTTP server would. Throws the first error, with its code as the cause. */
  ask<T>(query: string, variables?: Readonly<Record<string, unknown>>): Promise<T>;
  /** The response text for a request body. */
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Resets the request counters. */
  resetWire(): void;
  /** Empties the caches, like a restart of the server. */
  coolDown(): void;
  /** Whether markers are read from pages from now on; otherwise from the geo index. */
  usePages(yes: boolean): void;
  close(): Promise<void>;
}

const CREATED = '2026-11-21T00:00:00.000Z';
const PORTION = 5_000;

/** Writes markers. Returns the blocks of their cells as the stream consumer would write them. */
async function writeMarkers(db: Database, collection: Collection, markers: Iterable<BenchMarker>): Promise<Item[]> {
  const blocks = new Map<string, Map<string, CellSums>>();
  const count = (position: BenchMarker['position']) => {
    const geohash = encode(position, LONGEST_BLOCK + 1);
    for (let length = 0; length <= LONGEST_BLOCK; length++) {
      const parent = geohash.slice(0, length);
      const child = geohash.charAt(length);
      const block = blocks.get(parent) ?? new Map<string, CellSums>();
      blocks.set(parent, block.set(child, addSums(block.get(child) ?? NO_SUMS, sumsOf(position))));
    }
  };
  let portion: Item[] = [];
  const flush = async () => {
    await putInBulk({ ...newCall(db), unpriced: true }, db.tables.entities, portion);
    portion = [];
  };
  for (const marker of markers) {
    count(marker.position);
    portion.push(newMarkerItem(db, collection, marker, CREATED));
    if (portion.length >= PORTION) await flush();
  }
  await flush();
  const scope = db.keys.scope(collection);
  return Array.from(blocks, ([parent, children]) => ({
    ...db.keys.cell(scope, parent),
    b: 1,
    ...attributesOfBlock(parent, children),
  }));
}

/** Starts an engine in memory and a server over it. Counts are up to date, as if the consumer had caught up. */
export async function startRig(): Promise<Rig> {
  // No benchmark on this rig reads the stream.
  const { engine, database: db, close } = await openFreshTables({ table: 'bench', stream: false });

  const watched = watchWire(db);
  const directories = new DirectoryCache();
  let usesPages = true;
  // The clock of the state and its readers stands still, so that it is read once.
  const report = async () => (usesPages ? storedReport(db) : undefined);
  const trust = new ConsumerTrust({ own: () => undefined, stored: report, wall: () => 0 });
  const { pageServices } = testPages({ trusted: true, directories });
  await putStreamState(newCall(db), 'cells', { ...firstState('', 0), version: 1, endAt: 0 });
  const services = createServices(db, {
    cellCache: new CellCache({ maxBytes: 64 * 1024 * 1024, trusted: () => true, now: () => performance.now() }),
    // No cache of pages, so that every map has the cost of a first request.
    pageServices,
    trust,
    // Never expires: a slow machine would reload it more often, and count more reads.
    collectionCache: new CollectionCache({ now: () => 0 }),
    consumerStatus: () => ({ owner: true, behindMs: 0, countsExact: true }),
  });
  const server = await GraphqlServer.open(services, silentLog);
  const post = async (body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, search: '', body };
    const answer = await server.answer(request, new AbortController().signal);
    return String(answer.body);
  };
  return {
    engine,
    db,
    wire: watched.wire,
    services,
    async fill(key, markers, prefixLength = 2) {
      const input = { key, name: key, prefixLength, mapProperties: ['population'] };
      const collection = await createCollection(newCall(db), input, CREATED);
      const all = [...markers];
      const blocks = await writeMarkers(db, collection, all);
      await addPages(db, collection, all);
      await putInBulk({ ...newCall(db), unpriced: true }, db.tables.derived, blocks);
      return collection;
    },
    post,
    resetWire: () => watched.reset(),
    async ask<T>(query: string, variables: Readonly<Record<string, unknown>> = {}) {
      const { data, errors } = JSON.parse(await post({ query, variables })) as {
        data: T;
        errors?: readonly { message: string; extensions?: { code?: string } }[];
      };
      if (errors) throw new Error(errors[0]?.message, { cause: errors[0]?.extensions?.code });
      return data;
    },
    coolDown() {
      services.cellCache.clear();
      directories.clear();
      trust.forget();
    },
    usePages(yes) {
      usesPages = yes;
      trust.forget();
    },
    async close() {
      await server.stop();
      await close();
    },
  };
}
