import { existsSync } from 'node:fs';

import { runsAll, seed } from './rounds.js';

/** The slowest files but for those that guard access, or what others have stored; slowest first, so that halves last as long. */
const SLOW = [
  'server/sources/search.engine',
  'server/sources/follow.engine',
  'search/opensearch/sources.opensearch',
  'web/first-load.browser',
  'http/ogc.engine',
  'web/examples.browser',
  'lambda/stream.engine',
  'web/sign-in.browser',
  'cli/mcp.engine',
  'server/sources/contenders.engine',
  'http/longest-step.engine',
  'stream/summaries.engine',
  'server/sources/api.engine',
  'server/no-index.engine',
  'search/opensearch/reindex.opensearch',
  'lambda/http.engine',
  'client/viewport.engine',
  'search/embedded',
  'server/sources/faults.engine',
  'web/explain.browser',
  'ingest/countries.engine',
  'map/zones.engine',
  'search/opensearch/writes.opensearch',
  'http/never-stale.engine',
  'server/sources/again.engine',
  'search/opensearch/fleet.opensearch',
  'web/graphiql.browser',
  'graphql/read-on',
  'server/clocks.engine',
  'http/reads.engine',
  'server/embedded.engine',
  'http/monthly-readings.engine',
  'engine/start.engine',
  'search/opensearch/zones-at.opensearch',
  'cli/import-files.engine',
  'jobs/repartition.soak',
  'cli/workers.engine',
  'stream/month-streams.engine',
  'server/sources/fill.engine',
  'web/tiles.browser',
  'web/live-tiles.browser',
  'server/sources/tables.engine',
  'search/follow.engine',
  'web/graphiql-examples.engine',
  'lambda/servers.engine',
  'live/servers.engine',
] as const;

/**
 * The files that have no turn in this run: every other slow one, if `npm test` is run without CELLPORT_SOAK=1. CELLPORT_SEED
 * chooses the half. `args` are those of Vitest: files that are named there run.
 */
export function filesWithoutTurn(args: readonly string[]): string[] {
  const paths = SLOW.map((name) => `test/${name}.test.ts`);
  const gone = paths.filter((path) => !existsSync(path));
  if (gone.length > 0)
    throw new Error(`test/support/files-in-turn.ts names files that do not exist: ${gone.join(', ')}`);
  const names = args.some((arg) => arg !== 'run' && !arg.startsWith('-'));
  return names || runsAll ? [] : paths.filter((_, at) => at % 2 === seed % 2);
}
