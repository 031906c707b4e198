import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { compiling, interpreting } from '../graphql/executor.js';
import { type GeoTable, collectionKeyOf, serveGeoTable } from '../geolibrary/answers.js';
import { readLayout } from '../geolibrary/layout.js';
import { createGraphqlServer } from '../graphql/server.js';
import { checkReadiness } from '../http/health.js';
import { buildHttp } from '../http/server.js';
import { CITIES_COLLECTION, openCities } from '../ingest/markers/cities.js';
import { COUNTRIES_COLLECTION, loadCountries, openCountries } from '../ingest/zones/countries.js';
import { RejectsFile } from '../ingest/read/rejects.js';
import { createCellCache } from '../loaders/cell-cache.js';
import { createCollectionCache } from '../loaders/collection-cache.js';
import { createGeometryCache } from '../loaders/geometry-cache.js';
import { createMarkerCache } from '../loaders/marker-cache.js';
import { type Log, createLog } from '../log.js';
import { getCollections, listCollections } from '../store/collection/collections.js';
import { newCall } from '../store/request/meter.js';
import { checkTables } from '../store/table/table-check.js';
import { ensureTables } from '../store/table/tables.js';
import { type Backend, withBackend } from '../server/backend.js';
import { type Caches, type Cells, keepCells, leaveCells, recountCells } from '../server/cells.js';
import { Interrupted } from './failure.js';
import { startJobs } from '../server/jobs.js';
import { type Live, openLive } from '../server/live.js';
import { loadMarkers, openCollection } from './load.js';
import { duration, grouped } from './progress.js';
import { type Stop, onStop } from './stop.js';

const MAP_DIR = fileURLToPath(new URL('../../dist/page/', import.meta.url));
const GRAPHIQL_DIR = fileURLToPath(new URL('../../dist/graphiql/', import.meta.url));
/** How long answers under way may take once the server is told to stop. */
const CLOSE_WITHIN_MS = 5000;
const COUNTS_TRUSTED_MS = 2000;

/** Tells of variables that begin like settings and are none. */
export function warnOfUnknown({ unknown }: Config, log: Log): void {
  for (const name of unknown) log.warn({ name }, `${name} is no setting of Cellport and does nothing`);
}

/** One line of what was done at the start. */
function say(what: string, how: string): void {
  console.log(`${what.padEnd(10)} ${how}`);
}

function portTaken({ host, port }: Config['http'], error: NodeJS.ErrnoException): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new CellportError('UNAVAILABLE', `port ${port} on ${host} is taken; set PORT to another one`, { host, port });
}

/** Finds out at once, not after the data is loaded, that there is no place to listen. */
async function checkPort(http: Config['http']): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(portTaken(http, error)));
    probe.listen({ host: http.host, port: http.port }, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

/** So many rows of the demo go ahead of the cells. */
const AHEAD_OF_CELLS = 20_000;

/**
 * Lets the cells keep up with a load that tells how many rows it has done. The embedded engine does one thing at a time,
 * so it takes no longer in all, and the map is complete soon after the last row.
 */
function keepUp(cells: Cells, signal: AbortSignal): (rows: number) => Promise<void> {
  let waitedAt = 0;
  return async (rows) => {
    if (rows - waitedAt < AHEAD_OF_CELLS) return;
    waitedAt = rows;
    await cells.caughtUp(signal);
  };
}

/** Makes the countries where they are not there yet, and says so. */
async function loadCountryBorders(config: Config, { database, objects }: Backend, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  const { collection } = await openCollection(database, COUNTRIES_COLLECTION);
  const countries = openCountries();
  const geometryStore = { objects, inlineBytes: config.limits.inlineGeometryBytes };
  const options = { database, geometryStore, collection, now: () => new Date(), call: newCall(signal) };
  const made = await loadCountries(options, countries);
  const took = duration(performance.now() - began);
  say('Countries', made === 0 ? `${grouped(countries.length)} were there` : `${grouped(made)} loaded in ${took}`);
}

/** Loads the cities where they are not there yet, and says so. */
async function loadCityMarkers(
  config: Config,
  { database }: Backend,
  cells: Cells,
  signal: AbortSignal,
): Promise<void> {
  const { rows, identity } = openCities();
  const { counts, resumed, took } = await loadMarkers({
    database,
    dataDir: config.dataDir,
    collection: CITIES_COLLECTION,
    source: { name: 'demo', identity, rows },
    rejects: new RejectsFile(`${config.dataDir}/demo.rejects.ndjson`),
    once: true,
    label: 'Cities',
    signal,
    keepPace: keepUp(cells, signal),
  });
  const now = counts.created + counts.updated + counts.unchanged + counts.rejected - resumed;
  say(
    'Cities',
    now === 0
      ? `${grouped(rows.size)} were there`
      : `${grouped(now)} loaded in ${duration(took)}, ${grouped((now / took) * 1000)}/s`,
  );
}

/** What answers come from, beside the database. */
interface Serving {
  readonly caches: Caches;
  readonly live: Live;
  readonly geoTable: GeoTable | undefined;
}

/** A quarter of the memory for caches goes to the geometry of zones, the rest to cells and markers, half each. */
function createCaches({ cacheBytes }: Config, { database }: Backend, status: Cells['status']): Caches {
  const maxBytes = Math.floor((cacheBytes * 3) / 8);
  const now = () => performance.now();
  const follows = () => {
    const { owner, behindMs } = status();
    return owner && behindMs !== undefined && behindMs <= COUNTS_TRUSTED_MS;
  };
  return {
    cells: createCellCache({ maxBytes, now, trusted: follows }),
    markers: createMarkerCache({ keys: database.keys, maxBytes, now, trusted: follows }),
  };
}

/** Looks at the table of the Geo Library that is to be served, and says what it found. */
async function openGeoTable({ database }: Backend, { name, ...names }: GeoTableOptions): Promise<GeoTable> {
  const layout = await readLayout(database, name, { index: names.geohashIndex, geoJson: names.geoJson });
  const key = collectionKeyOf(name);
  const [taken] = await getCollections(database, [key], newCall(), { consistent: true });
  if (taken) {
    throw new CellportError(
      'CONFLICT',
      `there is a collection ${key} already, so that ${name} cannot be served as one`,
    );
  }
  say(
    'Geo table',
    `${name} as collection ${key}, read-only: ${layout.order}, hash keys of ${layout.hashKeyLength} digits`,
  );
  return serveGeoTable(database, layout, key);
}

/** The HTTP server over an open database and its cells, not yet listening. */
async function buildServer(
  config: Config,
  { database, objects }: Backend,
  cells: Cells,
  { caches, live, geoTable }: Serving,
  log: Log,
) {
  const graphql = await createGraphqlServer(
    {
      db: database,
      objects,
      cellCache: caches.cells,
      markerCache: caches.markers,
      collectionCache: createCollectionCache({ now: () => performance.now() }),
      geometryCache: createGeometryCache({ maxBytes: Math.floor(config.cacheBytes / 4) }),
      consumerStatus: () => cells.status(),
      live: live.hub,
      geoTable,
      limits: config.limits,
      introspection: config.introspection,
      now: () => new Date(),
    },
    log,
    config.graphqlJit ? compiling : interpreting,
  );
  const ready = () => {
    const { owner, behindMs = null, countsExact, gap, setAside } = cells.status();
    const ping = (signal: AbortSignal) => listCollections(database, { first: 1 }, newCall(signal));
    return checkReadiness(ping, { owner, behindMs, countsExact, gap, setAside });
  };
  const endSubscriptions = () => live.hub.close();
  const http = buildHttp({
    graphql,
    limits: config.limits,
    ready,
    staticDir: GRAPHIQL_DIR,
    mapDir: MAP_DIR,
    allowedOrigins: config.http.allowedOrigins,
    log,
    endSubscriptions,
  });
  return { graphql, http };
}

/** Answers are given until the server is told to stop; then those under way may finish, within bounds. */
async function serveUntilStopped(
  config: Config,
  backend: Backend,
  cells: Cells,
  serving: Serving,
  log: Log,
  stop: Stop,
): Promise<void> {
  const { graphql, http } = await buildServer(config, backend, cells, serving, log);
  const stopped = new Promise<void>((resolve) =>
    stop.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  try {
    stop.signal.throwIfAborted();
    await http.listen(config.http).catch((error: NodeJS.ErrnoException) => {
      throw portTaken(config.http, error);
    });
    const address = http.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : config.http.port;
    const host = config.http.host.includes(':') ? `[${config.http.host}]` : config.http.host;
    const url = `http://${host}:${port}`;
    say('Serving', `${url}          the map`);
    say('', `${url}/graphiql GraphiQL, with example queries`);
    say('', `${url}/graphql  the API; subscriptions by WebSocket, or as events from /graphql/stream`);
    say('', `${url}/healthz and /readyz`);
    console.log('Ctrl-C stops it and all that belongs to it.');
    await stopped;
    console.log('stopping');
  } finally {
    const closed = http.close().then(() => graphql.stop());
    const late = setTimeout(() => http.server.closeAllConnections(), CLOSE_WITHIN_MS);
    await closed.catch((error: unknown) => log.error({ err: error }, 'The server did not close in order'));
    clearTimeout(late);
  }
}

/** A table of the Geo Library by its name, and the names in it that its keys do not tell. */
interface GeoTableOptions {
  readonly name: string;
  readonly geohashIndex?: string;
  readonly geoJson?: string;
}

export interface ServeOptions {
  readonly demo: boolean;
  readonly version: string;
  readonly geoTable?: GeoTableOptions | undefined;
}

/**
 * `serve`: opens the database, makes the tables where they are missing, loads the demo data where that is asked for, keeps
 * the cells and answers until SIGINT or SIGTERM. Everything it opened is closed when it resolves, whatever happened.
 */
export async function serve(config: Config, { demo, version, geoTable: wanted }: ServeOptions): Promise<void> {
  const log = createLog(config.logLevel);
  warnOfUnknown(config, log);
  const stop = onStop();
  try {
    await checkPort(config.http);
    say('Cellport', version);
    await withBackend(config, async (backend) => {
      const { database, where } = backend;
      say('Database', where);
      stop.signal.throwIfAborted();
      const made = await ensureTables(database);
      await checkTables(database);
      say(
        'Tables',
        `${config.tables.entities}, ${config.tables.derived}: ${made.length === 0 ? 'were there' : 'made'}`,
      );
      const geoTable = wanted && (await openGeoTable(backend, wanted));
      const embedded = config.database.kind === 'embedded';
      const caches = createCaches(config, backend, () => cells.status());
      const live = openLive(backend, config.redisUrl, log);
      const cells = config.consumer
        ? keepCells(backend, log, { caches, live: live.feed, upgrade: embedded })
        : leaveCells();
      try {
        if (demo) {
          await loadCountryBorders(config, backend, stop.signal);
          await loadCityMarkers(config, backend, cells, stop.signal);
        }
        const began = performance.now();
        await cells.caughtUp(stop.signal);
        if (!config.consumer) say('Cells', 'kept by somebody else: CELLPORT_CONSUMER is off');
        else say('Cells', `complete${demo ? ` ${duration(performance.now() - began)} after the last city` : ''}`);
        // On AWS a recount reads the whole table, which its owner has to want.
        if (config.consumer && embedded && !cells.status().countsExact) {
          const recounted = performance.now();
          const { markers } = await recountCells(backend, log, false, stop.signal);
          await cells.caughtUp(stop.signal);
          say(
            '',
            `${grouped(markers)} markers counted anew in ${duration(performance.now() - recounted)}, after a gap`,
          );
        }
        const jobs = startJobs(backend, cells, config.limits.deadlineMs, log);
        try {
          await serveUntilStopped(config, backend, cells, { caches, live, geoTable }, log, stop);
        } finally {
          await jobs.stop();
        }
      } finally {
        await live.close();
        await cells.stop();
      }
    });
  } catch (error) {
    // Told to stop before it was serving: that is what it was told.
    if (!(error instanceof Interrupted)) throw error;
  } finally {
    stop.release();
  }
}
