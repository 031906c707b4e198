import { fastify, type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';

import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import type { Limits } from '../model/limits.js';
import { clientErrorHandler, frameworkErrors, handleErrors } from './errors.js';
import { addHealth, type IsAdmin, type Readiness } from './health.js';
import { checkHosts, hostChecker, type HostOptions } from './hosts.js';
import type { HotKey, Metrics } from './metrics.js';
import { addMetric } from './process-metrics.js';
import { statusPage } from './status-page.js';

async function prometheusText(metrics: Metrics): Promise<string> {
  const { keys } = await metrics.hotKeys();
  const hot = new Registry();
  const help = 'Of the hottest partition keys, mean of the last half to whole minute.';
  const add = (name: string, value: (key: HotKey) => number) =>
    addMetric(hot, 'sum', `hot_key_${name}`, help, () =>
      keys.map((one) => [value(one), { table: one.table, index: one.index ?? '', key: one.key }]),
    );
  add('read_units_per_second', ({ readUnits }) => readUnits);
  add('write_units_per_second', ({ writeUnits }) => writeUnits);
  add('share', ({ share }) => share);
  return (await hot.metrics()) + (await (await metrics.registry()).metrics());
}

const HIDDEN = new CellportError('FORBIDDEN', 'CELLPORT_EXPLAIN is off: this server does not show what it reads');

const FOR_ADMINS = new CellportError('FORBIDDEN', 'only a principal who administers all collections may see this');

/**
 * `/metrics`: consumed capacity, requests and this process for Prometheus. `/hot-keys`: the hottest partition keys as JSON.
 * `/status`: a page for people. Keys reveal which data exist and are read, so all of them are refused where clients may not
 * ask what a request reads, and to all but admins.
 */
export function addMetrics(
  server: FastifyInstance,
  metrics: Metrics,
  ready: () => Promise<Readiness>,
  { explain, isAdmin }: { readonly explain: boolean; readonly isAdmin: IsAdmin },
): void {
  const serve = (url: string, type: string, body: () => unknown) =>
    server.get(url, async ({ headers }, reply) => {
      if (!(await isAdmin(headers))) throw FOR_ADMINS;
      if (!explain) throw HIDDEN;
      return reply
        .header('cache-control', 'no-store')
        .type(type)
        .send(await body());
    });
  serve('/metrics', 'text/plain; version=0.0.4; charset=utf-8', () => prometheusText(metrics));
  serve('/hot-keys', 'application/json; charset=utf-8', () => metrics.hotKeys());
  serve('/status', 'text/html; charset=utf-8', async () =>
    statusPage(await ready(), await metrics.hotKeys(), await (await metrics.registry()).getMetricsAsJSON()),
  );
}

export interface AdminOptions extends HostOptions {
  readonly limits: Limits;
  readonly log: Log;
}

/**
 * Builds the HTTP server of the admin port: /status, /metrics, /hot-keys, /healthz and /readyz for everyone who reaches it.
 * It does not listen yet. Closing it closes its connections.
 */
export function buildAdmin(
  ready: () => Promise<Readiness>,
  metrics: Metrics,
  { limits, log, ...hosts }: AdminOptions,
): FastifyInstance {
  const server = fastify({ forceCloseConnections: true, frameworkErrors, clientErrorHandler });
  checkHosts(server, hostChecker(hosts));
  handleErrors(server, limits, log);
  const isAdmin = async () => true;
  addHealth(server, ready, isAdmin);
  addMetrics(server, metrics, ready, { explain: true, isAdmin });
  return server;
}
