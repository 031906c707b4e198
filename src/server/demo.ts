import type { Config } from '../config.js';
import { CITIES_COLLECTION, openCities } from '../ingest/markers/cities.js';
import { type Load, loadMarkers } from '../ingest/markers/load-markers.js';
import { openCollection } from '../ingest/open-collection.js';
import { RejectsFile } from '../ingest/read/rejects.js';
import { COUNTRIES_COLLECTION, loadCountries, openCountries } from '../ingest/zones/countries.js';
import { newCall } from '../store/request/meter.js';
import type { Backend } from './backend.js';
import type { Cells } from './cells.js';

/** How many cities the load may be ahead of the cells. */
const AHEAD_OF_CELLS = 20_000;

/** How many items a demo has, and how many of them this call loaded. */
export interface DemoLoad {
  readonly count: number;
  readonly loaded: number;
}

/** Creates the countries that do not exist yet. */
export async function loadDemoCountries({ database }: Backend, signal: AbortSignal): Promise<DemoLoad> {
  const { collection } = await openCollection(database, COUNTRIES_COLLECTION);
  const countries = openCountries();
  const options = { database, collection, now: () => new Date(), call: newCall(signal) };
  return { count: countries.length, loaded: await loadCountries(options, countries) };
}

/**
 * Loads the cities, unless they were loaded before, and pauses while the cells lag behind: the embedded engine does one
 * thing at a time, so this takes no longer overall, and the map is complete soon after the last row.
 */
export async function loadDemoCities(
  { dataDir }: Config,
  { database }: Backend,
  cells: Cells,
  { signal, onChecked, onProgress }: Pick<Load, 'signal' | 'onChecked' | 'onProgress'>,
): Promise<DemoLoad> {
  const { rows, identity } = openCities();
  let waitedAt = 0;
  const { counts, resumed } = await loadMarkers({
    database,
    dataDir,
    collection: CITIES_COLLECTION,
    source: { name: 'demo', identity, rows },
    rejects: new RejectsFile(`${dataDir}/demo.rejects.ndjson`),
    once: true,
    signal,
    onChecked,
    async onProgress(progress) {
      await onProgress(progress);
      const { created, updated, unchanged } = progress.counts;
      const written = created + updated + unchanged - progress.resumed;
      if (written - waitedAt < AHEAD_OF_CELLS) return;
      waitedAt = written;
      await cells.caughtUp(signal);
    },
  });
  const done = counts.created + counts.updated + counts.unchanged + counts.rejected;
  return { count: rows.size, loaded: done - resumed };
}
