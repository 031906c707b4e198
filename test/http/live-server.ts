import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';

import { addSums, NO_SUMS, sumsOf, type CellSums } from '../../src/geo/cell-sums.js';
import { encode } from '../../src/geo/geohash.js';
import type { Services, StreamStatus } from '../../src/graphql/context.js';
import type { GraphqlServer } from '../../src/graphql/server.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { CollectionCache } from '../../src/loaders/collection-cache.js';
import { silentLog, type Log } from '../../src/log.js';
import { LONGEST_BLOCK } from '../../src/model/cell.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS, type Limits } from '../../src/model/limits.js';
import type { Marker } from '../../src/model/marker.js';
import type { ObjectStore } from '../../src/objects/object-store.js';
import {
  createHttpServer,
  createServices,
  type HttpServerOptions,
  type ServiceOverrides,
} from '../../src/server/services.js';
import type { Database } from '../../src/store/database.js';
import { addCells } from '../support/add-cells.js';
import { comparing, newComparison, type Comparison } from '../support/compare-executors.js';
import { testPages } from '../support/page-services.js';

type Json = Readonly<Record<string, unknown>>;

export interface Answered {
  readonly status: number;
  // Answers have any shape; the assertions of each test say what it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
  readonly errors: readonly { message: string; path?: readonly (string | number)[]; extensions: Json }[];
  readonly extensions: Json | undefined;
}

export interface LiveServer {
  readonly url: string;
  /** The server's log. */
  readonly logged: readonly { readonly level: string; readonly fields: Json; readonly message: string }[];
  readonly services: Services;
  /** Each operation is run by both executors. */
  readonly compared: Comparison;
  /** Posts one query; fails if the answer is not JSON. */
  ask(query: string, variables?: Json, headers?: Record<string, string>): Promise<Answered>;
  post(body: string, headers?: Record<string, string>): Promise<Response>;
  /** Executes an operation without HTTP, in a fraction of the time. */
  readonly graphql: GraphqlServer;
  /** Fails if the two executors gave different responses. */
  close(): Promise<void>;
}

export const CAUGHT_UP: StreamStatus = { owner: true, behindMs: 0, countsExact: true };

type ServiceOption =
  | 'now'
  | 'live'
  | 'search'
  | 'cellCache'
  | 'pageServices'
  | 'trust'
  | 'storageFault'
  | 'introspection'
  | 'trustedDocuments'
  | 'cacheSeconds'
  | 'readOnly';

/** The cells are those of a consumer by default, and the geo index is read. */
interface ServerOptions
  extends Pick<ServiceOverrides, ServiceOption>, Omit<HttpServerOptions, 'extension' | 'files' | 'log'> {
  readonly limits?: Partial<Limits>;
  readonly status?: () => StreamStatus | undefined;
  readonly objects?: ObjectStore;
  /** Folder of the page at /graphiql/; an empty page by default. */
  readonly staticDir?: string;
  /** Folder of the map page; without it, / redirects to GraphiQL. */
  readonly mapDir?: string;
}

/** The same as `startServer`, closed after the tests of the file or of a `describe`. */
export async function testServer(db: Database, options?: ServerOptions): Promise<LiveServer> {
  const server = await startServer(db, options);
  afterAll(() => server.close());
  return server;
}

/** A complete HTTP server on a free port, over the tables of `db`. */
export async function startServer(db: Database, options: ServerOptions = {}): Promise<LiveServer> {
  const { limits, status: consumerStatus = () => CAUGHT_UP, objects, executor, staticDir, mapDir, ...others } = options;
  const { pageServices, trust } = testPages({ trusted: false });
  const logged: { level: string; fields: Json; message: string }[] = [];
  const write = (level: string) => (fields: Json, message: string) => void logged.push({ level, fields, message });
  const log: Log = { ...silentLog, error: write('error'), warn: write('warn') };
  const services = createServices(
    { ...db, geometry: { ...db.geometry, objects } },
    {
      cellCache: new CellCache({ maxBytes: 8 * 1024 * 1024, trusted: () => true, now: () => performance.now() }),
      pageServices,
      trust,
      // Its clock does not advance, so that the cost of a request does not depend on how fast the machine is.
      collectionCache: new CollectionCache({ now: () => 0 }),
      consumerStatus,
      now: () => new Date(),
      ...others,
      limits: { ...DEFAULT_LIMITS, ...limits },
    },
  );
  const empty = mkdtempSync(join(tmpdir(), 'graphiql-'));
  writeFileSync(join(empty, 'index.html'), '<!doctype html><title>GraphiQL</title>');
  const compared = newComparison();
  const { graphql, http, close } = await createHttpServer(services, {
    ...others,
    // By default, each operation is run by both.
    executor: executor ?? comparing(compared),
    files: { staticDir: staticDir ?? empty, mapDir },
    log,
  });
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  return {
    url,
    logged,
    services,
    compared,
    graphql,
    post,
    ask: async (query, variables = {}, headers = {}) => {
      const response = await post(JSON.stringify({ query, variables }), headers);
      const { data, errors = [], extensions } = (await response.json()) as Partial<Answered>;
      return { status: response.status, data, errors, extensions };
    },
    close: async () => {
      await close();
      rmSync(empty, { recursive: true });
      expect(compared.differences).toEqual([]);
    },
  };
}

/** Writes the cells of markers like the stream consumer, from an independent count. */
export async function fillCells(
  db: Database,
  collection: Collection,
  markers: readonly Pick<Marker, 'position'>[],
  batch = 1,
): Promise<void> {
  const blocks = new Map<string, Map<string, CellSums>>();
  for (const { position } of markers) {
    const geohash = encode(position, LONGEST_BLOCK + 1);
    for (let length = 0; length <= LONGEST_BLOCK; length++) {
      const parent = geohash.slice(0, length);
      const block = blocks.get(parent) ?? new Map<string, CellSums>();
      blocks.set(parent, block);
      const child = geohash.charAt(length);
      block.set(child, addSums(block.get(child) ?? NO_SUMS, sumsOf(position)));
    }
  }
  const scope = db.keys.scope(collection);
  await addCells(db, scope, batch, blocks);
}
