import type { Config } from '../config.js';
import { createContext } from '../graphql/context.js';
import { Work } from '../graphql/work.js';
import type { MapContext } from '../read/context.js';
import type { Backend } from './backend.js';
import { storedReport } from './consumer.js';
import { createServices } from './services.js';

/** Answers one query of a command, as a server that has just started would. */
export async function oneQuery<T>(
  { limits }: Pick<Config, 'limits'>,
  backend: Backend,
  signal: AbortSignal,
  query: (map: MapContext) => Promise<T>,
): Promise<T> {
  const work = new Work(limits, backend.database.scheduler);
  signal.addEventListener('abort', work.abandon, { once: true });
  try {
    const services = createServices(backend, { cacheBytes: 0, limits, storedReport: () => storedReport(backend) });
    return await query(createContext(services, work).map);
  } finally {
    work.end();
    signal.removeEventListener('abort', work.abandon);
  }
}
