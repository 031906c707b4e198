import { Command } from 'commander';

import type { Cells } from '../server/cells.js';
import { Interrupted } from './failure.js';
import { EXIT_CODES, type GeoTableNames, geoJsonOption, geohashIndexOption } from './options.js';
import { duration, grouped, importBars } from './progress.js';
import { type Session, type Settings, withSettings } from './session.js';

interface ServeOptions extends GeoTableNames {
  readonly demo?: boolean;
  readonly geoTable?: string;
}

/** Prints one line of the startup log. */
function say(what: string, how: string): void {
  console.log(`${what.padEnd(10)} ${how}`);
}

async function openTables({ config, database }: Session): Promise<void> {
  const { checkTables } = await import('../store/table/table-check.js');
  const { ensureTables } = await import('../store/table/tables.js');
  const created = await ensureTables(database);
  await checkTables(database);
  const { entities, derived } = config.tables;
  say('Tables', `${entities}, ${derived}: ${created.length === 0 ? 'already exist' : 'created'}`);
}

async function openGeoTable({ database }: Session, { geoTable: name, ...names }: ServeOptions) {
  if (name === undefined) return undefined;
  const { openGeoTable: open } = await import('../server/geo-table.js');
  const { table, layout, key } = await open(database, { name, ...names });
  say(
    'Geo table',
    `${name} as collection ${key}, read-only: ${layout.order}, hash keys of ${layout.hashKeyLength} digits`,
  );
  return table;
}

async function loadDemo({ config, signal, ...session }: Session, cells: Cells): Promise<void> {
  const { loadDemoCities, loadDemoCountries } = await import('../server/demo.js');
  const began = performance.now();
  const countries = await loadDemoCountries(session, signal);
  say(
    'Countries',
    countries.loaded === 0
      ? `${grouped(countries.count)} already loaded`
      : `${grouped(countries.loaded)} loaded in ${duration(performance.now() - began)}`,
  );
  const bars = importBars('Cities');
  const citiesBegan = performance.now();
  const cities = await loadDemoCities(config, session, cells, { signal, ...bars }).finally(bars.end);
  const took = performance.now() - citiesBegan;
  say(
    'Cities',
    cities.loaded === 0
      ? `${grouped(cities.count)} already loaded`
      : `${grouped(cities.loaded)} loaded in ${duration(took)}, ${grouped((cities.loaded / took) * 1000)}/s`,
  );
}

/** Waits until the cells include every write so far, and recounts all markers if necessary. */
async function completeCells(session: Session, cells: Cells, demo: boolean): Promise<void> {
  const { config, log, signal } = session;
  const began = performance.now();
  await cells.caughtUp(signal);
  if (!config.consumer) return say('Cells', 'updated by another process: CELLPORT_CONSUMER is off');
  say('Cells', `complete${demo ? ` ${duration(performance.now() - began)} after the last city` : ''}`);
  // On AWS a recount reads, and pays for, the whole table: left to the user.
  if (config.database.kind !== 'embedded' || cells.status().countsExact) return;
  const { recountCells } = await import('../server/cells.js');
  const recounted = performance.now();
  const { markers } = await recountCells(session, log, false, signal);
  await cells.caughtUp(signal);
  say('', `${grouped(markers)} markers recounted in ${duration(performance.now() - recounted)}, after a gap`);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

async function serve(session: Session, options: ServeOptions): Promise<void> {
  const { config, log, signal } = session;
  const { demo = false } = options;
  say('Database', session.where);
  signal.throwIfAborted();
  await openTables(session);
  const geoTable = await openGeoTable(session, options);
  const { openServer } = await import('../server/open-server.js');
  const { accessWarning } = await import('../http/hosts.js');
  const server = openServer(config, session, geoTable, log);
  try {
    if (demo) await loadDemo(session, server.cells);
    await completeCells(session, server.cells, demo);
    signal.throwIfAborted();
    const warning = accessWarning(config.http.host, config.readOnly);
    if (warning !== undefined) log.warn({}, warning);
    const url = await server.listen();
    say('Serving', `${url}          the map`);
    say('', `${url}/graphiql GraphiQL, with example queries`);
    say('', `${url}/graphql  the API; subscriptions by WebSocket, or as events from /graphql/stream`);
    say('', `${url}/healthz and /readyz`);
    console.log('Press Ctrl-C to stop.');
    await untilAborted(signal);
  } finally {
    if (signal.aborted) console.log('stopping');
    await server.close();
  }
}

async function run(settings: Settings, options: ServeOptions, version: string): Promise<void> {
  const { withBackend } = await import('../server/backend.js');
  const { checkPort } = await import('../server/open-server.js');
  await checkPort(settings.config.http);
  say('Cellport', version);
  await withBackend(settings.config, (backend) => serve({ ...settings, ...backend }, options)).catch(
    (error: unknown) => {
      // A stop by a signal counts as success at any step.
      if (!(error instanceof Interrupted)) throw error;
    },
  );
}

export function serveCommand(version: string): Command {
  return new Command('serve')
    .description('Serve GraphQL; creates missing tables')
    .option('--demo', 'load the cities and countries of the world first, unless already loaded')
    .option('--geo-table <name>', 'also serve this table of the Geo Library, read-only, as a collection with its name')
    .addOption(geohashIndexOption())
    .addOption(geoJsonOption())
    .addHelpText('after', EXIT_CODES)
    .action((options: ServeOptions) => withSettings((settings) => run(settings, options, version), options));
}
