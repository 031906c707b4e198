import type { Config } from '../config.js';
import { buildAdmin } from '../http/admin.js';
import type { Readiness } from '../http/health.js';
import type { Metrics } from '../http/metrics.js';
import type { Log } from '../log.js';
import { listen } from './listen.js';

export type AdminPort = ReturnType<typeof createAdmin>;

/** The admin port of a server, if one is configured. It does not listen yet. */
export function createAdmin({ http, limits }: Config, metrics: Metrics | undefined, log: Log) {
  let server: ReturnType<typeof buildAdmin> | undefined;
  let url: string | undefined;
  return {
    /** Undefined while nobody listens. */
    url: () => url,
    /** Throws UNAVAILABLE if the port is in use. */
    async open(ready: () => Promise<Readiness>): Promise<void> {
      const { admin, allowedHosts } = http;
      if (admin === undefined || metrics === undefined) return;
      const built = buildAdmin(ready, metrics, { host: admin.host, allowedHosts, limits, log });
      server = built;
      url = await listen(built.server, admin, (place) => built.listen(place), 'CELLPORT_ADMIN_PORT');
    },
    close: () => server?.close(),
  };
}
