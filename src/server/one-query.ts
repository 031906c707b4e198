import { createContext } from '../graphql/context.js';
import { Work } from '../graphql/work.js';
import type { Limits } from '../model/limits.js';
import type { MapContext } from '../read/context.js';
import type { Database } from '../store/database.js';
import { storedReport } from './consumer.js';
import { createServices } from './services.js';

/** Answers one query of a command, as a server that has just started would. */
export async function oneQuery<T>(
  limits: Limits,
  database: Database,
  signal: AbortSignal,
  query: (map: MapContext) => Promise<T>,
): Promise<T> {
  const work = new Work(limits, database);
  work.stopOn(signal);
  try {
    const services = createServices(database, { cacheBytes: 0, limits, storedReport: () => storedReport(database) });
    return await query(createContext(services, work, undefined).map);
  } finally {
    work.end();
  }
}
