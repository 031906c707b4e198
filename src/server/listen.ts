import { createServer, type Server } from 'node:net';

import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { buildAdmin } from '../http/admin.js';
import type { Readiness } from '../http/health.js';
import type { Metrics } from '../http/metrics.js';
import type { Log } from '../log.js';
import { urlOf } from '../loopback.js';

type Place = Pick<Config['http'], 'host' | 'port'>;

const listenAt = (server: Server) => (place: Place) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, resolve);
  });

/** Makes a server listen, with `begin` if that is not its own method; returns the URL. Throws UNAVAILABLE if the port is in use, naming its setting. */
export async function listen(
  server: Server,
  { host, port: wanted }: Place,
  begin: (place: Place) => Promise<unknown> = listenAt(server),
  setting = 'PORT',
): Promise<string> {
  await begin({ host, port: wanted }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const message = `port ${wanted} on ${host} is in use; set ${setting} to another`;
    throw new CellportError('UNAVAILABLE', message, { host, port: wanted });
  });
  const address = server.address();
  return urlOf(host, typeof address === 'object' && address !== null ? address.port : wanted);
}

/** Rejects with UNAVAILABLE if the port is in use, so that a command fails before it loads data. */
export async function checkPort(place: Place, setting?: string): Promise<void> {
  const probe = createServer();
  await listen(probe, place, listenAt(probe), setting);
  await new Promise((resolve) => probe.close(resolve));
}

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
