import type { Config } from '../config.js';
import { CellportError, reasonFor } from '../errors.js';
import type { LoadReadiness } from '../http/health.js';
import { CITIES_COLLECTION, openCities } from '../ingest/markers/cities.js';
import { loadMarkers, type MarkerLoad } from '../ingest/markers/load-markers.js';
import { openCollection, type OpenedCollection } from '../ingest/open-collection.js';
import { RejectsFile } from '../ingest/read/rejects.js';
import { COUNTRIES_COLLECTION, loadCountries, openCountries } from '../ingest/zones/countries.js';
import { newCall } from '../store/database.js';
import type { Backend } from './backend.js';
import type { DerivedData } from './consumer.js';

/** The first windows are small and counted before the rest is written, so that the world map fills at once. */
const WINDOW_ROWS = 500;

/** The number of items in a part of the demo, and how many of them this call loaded. */
export interface DemoPart {
  readonly count: number;
  readonly loaded: number;
}

export interface DemoOptions extends Pick<MarkerLoad, 'signal' | 'onChecked' | 'onProgress'> {
  /** Called once the cities are loaded and counted. */
  readonly onCities: (cities: DemoPart) => void;
}

/** The demo data, loaded while the server answers. */
export interface Demo {
  readiness(): LoadReadiness;
  /**
   * Loads missing cities, largest first, and resolves once the cells include them; then loads missing countries.
   * Rejects with the signal's reason on abort.
   */
  load(
    derived: DerivedData,
    options: DemoOptions,
  ): Promise<{ readonly cities: DemoPart; readonly countries: DemoPart }>;
}

const PARTS = [CITIES_COLLECTION, COUNTRIES_COLLECTION] as const;
/** Whether somebody else has created it: its markers or zones would be overwritten. */
const isForeign = ({ collection }: OpenedCollection) =>
  !PARTS.some(({ key, description }) => key === collection.key && description === collection.description);

/**
 * Creates the demo's collections, unless they exist. If one of them is not the demo's, nothing is created, and the load
 * rejects with CONFLICT. `table` is that of `OpenedTables`; `most` limits the load to the largest cities.
 */
export async function openDemo(
  { dataDir }: Config,
  { database }: Backend,
  table: string,
  most?: number,
): Promise<Demo> {
  const [opened, countries] = await Promise.all([
    openCollection(database, CITIES_COLLECTION),
    openCollection(database, COUNTRIES_COLLECTION),
  ]);
  const foreign = [opened, countries].find(isForeign)?.collection.key;
  if (foreign === undefined) await Promise.all([opened.create(), countries.create()]);
  let readiness: LoadReadiness = { state: 'loading', checked: 0, cities: 0, of: null, counted: false, reason: null };

  async function loadCities(derived: DerivedData, { signal, onChecked, onProgress }: DemoOptions): Promise<DemoPart> {
    const { rows, identity } = openCities(most);
    readiness = { ...readiness, of: rows.size };
    let counted = false;
    const { counts, resumed } = await loadMarkers({
      database,
      table,
      dataDir,
      collection: opened,
      source: { name: 'demo', identity, rows },
      rejects: new RejectsFile(`${dataDir}/demo.rejects.ndjson`),
      once: true,
      order: 'given',
      windowRows: WINDOW_ROWS,
      signal,
      onChecked(progress) {
        readiness = { ...readiness, checked: progress.rows };
        onChecked(progress);
      },
      async onProgress(progress) {
        const { created, updated, unchanged } = progress.counts;
        readiness = { ...readiness, cities: created + updated + unchanged };
        await onProgress(progress);
        // What an interrupted load has written is counted meanwhile.
        counted ||= progress.resumed > 0;
        if (counted || readiness.cities === 0) return;
        counted = true;
        await derived.caughtUp(signal);
      },
    });
    await derived.caughtUp(signal);
    const done = counts.created + counts.updated + counts.unchanged + counts.rejected;
    return { count: rows.size, loaded: done - resumed };
  }

  async function loadZones(signal: AbortSignal): Promise<DemoPart> {
    const all = openCountries();
    const collection = await countries.create();
    const options = { collection, now: () => new Date(database.clock.wall()), call: newCall(database, signal) };
    return { count: all.length, loaded: await loadCountries(options, all) };
  }

  return {
    readiness: () => readiness,
    async load(derived, options) {
      try {
        if (foreign !== undefined) {
          throw new CellportError(
            'CONFLICT',
            `the collection ${JSON.stringify(foreign)} is not the demo's; give the demo another CELLPORT_TABLE or CELLPORT_DATA_DIR`,
            { key: foreign },
          );
        }
        const cities = await loadCities(derived, options);
        readiness = { ...readiness, cities: cities.count, of: cities.count, counted: true };
        options.onCities(cities);
        const loaded = { cities, countries: await loadZones(options.signal) };
        readiness = { ...readiness, state: 'complete' };
        return loaded;
      } catch (error) {
        readiness = { ...readiness, state: 'failed', reason: reasonFor(error) };
        throw error;
      }
    },
  };
}
