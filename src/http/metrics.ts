import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';

import { CellportError } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import type { IsAdmin } from './health.js';

interface Units {
  readonly readUnits: number;
  readonly writeUnits: number;
}

interface Source {
  readonly table: string;
  /** Null for the table itself. */
  readonly index: string | null;
}

/** What a server consumes of DynamoDB, in units a second, and its hottest partition keys, the hottest first. */
export interface HotKeys extends Units {
  /** The time that this is a mean of. */
  readonly seconds: number;
  /** The most that a key may have consumed beyond what is shown, as a share. */
  readonly missedAtMost: number;
  readonly keys: readonly HotKey[];
}

/** A partition key with its units a second. */
export interface HotKey extends Source, Units {
  readonly key: string;
  /** What the key names, in words. */
  readonly names: string;
  /** The area of the geohash prefix in the key, in degrees; null if it has none. */
  readonly bounds: Readonly<Record<'west' | 'south' | 'east' | 'north', number>> | null;
  /** Of what the server consumes, 0 to 1; a write unit weighs as much as three read units. */
  readonly share: number;
}

/** All units since the start of a table or index. */
export type Total = Source & Units;

/** The capacity that a server consumes. */
export interface Metrics {
  hotKeys(): HotKeys | Promise<HotKeys>;
  totals(): readonly Total[] | Promise<readonly Total[]>;
  /** The text of all other metrics, if they are not only those of the registry of this process. */
  readonly others?: () => Promise<string>;
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

/** A metric in the text format of Prometheus. */
function metric<T extends Source>(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  rows: readonly T[],
  value: (row: T) => number,
): string {
  const lines = rows.map((row) => {
    const labels = { table: row.table, index: row.index ?? '', ...('key' in row ? { key: String(row.key) } : {}) };
    const written = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${name}{${written.join(',')}} ${value(row)}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

async function prometheusText(metrics: Metrics, registry: Registry): Promise<string> {
  const totals = await metrics.totals();
  const { keys } = await metrics.hotKeys();
  const readUnits = (row: Units) => row.readUnits;
  const writeUnits = (row: Units) => row.writeUnits;
  const hot = 'of the hottest partition keys, mean of the last half to whole minute.';
  return [
    metric('cellport_read_units_total', 'counter', 'Read units since the start.', totals, readUnits),
    metric('cellport_write_units_total', 'counter', 'Write units since the start.', totals, writeUnits),
    metric('cellport_hot_key_read_units_per_second', 'gauge', `Read units ${hot}`, keys, readUnits),
    metric('cellport_hot_key_write_units_per_second', 'gauge', `Write units ${hot}`, keys, writeUnits),
    metric('cellport_hot_key_share', 'gauge', `Share of this server's units ${hot}`, keys, ({ share }) => share),
    await (metrics.others?.() ?? registry.metrics()),
  ].join('');
}

const HIDDEN = new CellportError('FORBIDDEN', 'CELLPORT_EXPLAIN is off: this server does not show what it reads');

const FOR_ADMINS = new CellportError('FORBIDDEN', 'only a principal who administers all collections may see this');

/**
 * `/metrics`: consumed capacity, requests and this process for Prometheus. `/hot-keys`: the hottest partition keys as JSON. Keys reveal which data
 * exist and are read, so both are refused where clients may not ask what a request reads, and to all but admins.
 */
export function addMetrics(
  server: FastifyInstance,
  metrics: Metrics,
  registry: Registry,
  { explain, isAdmin }: { readonly explain: boolean; readonly isAdmin: IsAdmin },
): void {
  const serve = (url: string, type: string, body: () => unknown) =>
    server.get(url, async ({ headers }, reply) => {
      if (!(await isAdmin(headers))) return reply.code(403).send({ errors: [formatted(FOR_ADMINS)] });
      if (!explain) return reply.code(403).send({ errors: [formatted(HIDDEN)] });
      return reply
        .header('cache-control', 'no-store')
        .type(type)
        .send(await body());
    });
  serve('/metrics', 'text/plain; version=0.0.4; charset=utf-8', () => prometheusText(metrics, registry));
  serve('/hot-keys', 'application/json; charset=utf-8', () => metrics.hotKeys());
}
