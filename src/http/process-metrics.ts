import { createRequire } from 'node:module';
import { collectDefaultMetrics, Registry, type Metric } from 'prom-client';

import { MOST_NAMES } from '../model/few-names.js';
import type { SourceReadiness, StreamReadiness } from './health.js';
import type { Units } from './metrics.js';

/** What a process has consumed of DynamoDB since its start. */
export interface Consumption {
  totals(): readonly (Units & { readonly table: string; readonly index: string | null })[];
  collections(): readonly (Units & { readonly collection: string })[];
  /** The number of requests of each operation. */
  requests(): ReadonlyMap<string, number>;
}

/** What a process that answers requests says about itself. */
export interface ServerFigures {
  /** The state of the stream, as far as this process knows it; null if it does not read it. */
  stream(): StreamReadiness | null;
  sources(): readonly SourceReadiness[];
  readonly reads: Readonly<Record<'rangesWanted' | 'rangesRead' | 'markersRead' | 'markersFound', number>>;
  caches(): Readonly<Record<string, Readonly<Record<'bytes' | 'hits' | 'misses', number>>>>;
  pagesDecoded(): number;
  subscriptions(): number;
}

type Row = readonly [value: number, labels?: Readonly<Record<string, string>>];

/** A counter, or a gauge that is the sum or the maximum of those of several processes. */
type Kind = 'counter' | 'sum' | 'max';

/** Adds a metric whose rows are read when it is shown. */
export function addMetric(
  registry: Registry,
  kind: Kind,
  name: string,
  help: string,
  rows: () => readonly Row[],
): void {
  const type = kind === 'counter' ? kind : 'gauge';
  const aggregator = kind === 'max' ? kind : 'sum';
  const values = () => rows().map(([value, labels = {}]) => ({ value, labels }));
  // A registry only calls `get`, as it does for those that prom-client has aggregated.
  const metric = { name: `cellport_${name}`, help, type, aggregator };
  registry.registerMetric({ ...metric, get: () => ({ ...metric, values: values() }) } as unknown as Metric);
}

/** A registry with the metrics of this process, and with what it consumes. */
export function processMetrics(consumption: Consumption): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string };
  const build = { version, node: process.version };
  addMetric(registry, 'max', 'build_info', 'Always 1.', () => [[1, build]]);
  const count = (name: string, help: string, rows: () => readonly Row[]) =>
    addMetric(registry, 'counter', `${name}_total`, help, rows);
  for (const kind of ['read', 'write'] as const) {
    count(`${kind}_units`, 'Units since the start.', () =>
      consumption.totals().map(({ table, index, ...of }) => [of[`${kind}Units`], { table, index: index ?? '' }]),
    );
    count(`collection_${kind}_units`, 'Units since the start of collections.', () =>
      consumption.collections().map(({ collection, ...of }) => [of[`${kind}Units`], { collection }]),
    );
  }
  count('dynamodb_requests', 'Requests to DynamoDB.', () =>
    Array.from(consumption.requests(), ([operation, number]) => [number, { operation }]),
  );
  return registry;
}

const seconds = (ms: number | null) => (ms === null ? NaN : ms / 1_000);

/** Adds what a process that answers requests says about itself. All processes of a server say the same about streams. */
export function addFigures(registry: Registry, figures: ServerFigures): void {
  const { reads } = figures;
  const of = (value: (state: StreamReadiness) => number) => {
    const state = figures.stream();
    return state ? value(state) : NaN;
  };
  const ofStream = (name: string, help: string, value: (state: StreamReadiness) => number) =>
    addMetric(registry, 'max', name, help, () => [[of(value)]]);
  ofStream('stream_behind_seconds', 'How far counts and pages lag behind.', ({ behindMs }) => seconds(behindMs));
  ofStream('counts_exact', '1 if counts are exact, 0 after a gap.', ({ countsExact }) => Number(countsExact));
  ofStream('stream_gap', '1 from a gap in the stream until a recount.', ({ gap }) => Number(gap !== null));
  ofStream('dead_letters', 'Records that could not be counted.', ({ deadLetters }) => deadLetters);
  const ofSources = (name: string, help: string, value: (source: SourceReadiness) => number) => {
    const row = (source: SourceReadiness) => [value(source), { collection: source.collection }] as const;
    addMetric(registry, 'max', `source_${name}`, help, () => figures.sources().slice(0, MOST_NAMES).map(row));
  };
  ofSources('behind_seconds', 'How far the map of a source lags behind.', ({ behindMs }) => seconds(behindMs));
  ofSources('counts_exact', '1 if the counts of a source are exact.', ({ countsExact }) => Number(countsExact));
  ofSources('failed', '1 while a source cannot be read.', ({ failure }) => Number(failure !== null));
  const ofCaches = (kind: Kind, name: string, help: string, figure: 'bytes' | 'hits' | 'misses') =>
    addMetric(registry, kind, `cache_${name}`, help, () =>
      Object.entries(figures.caches()).map(([cache, of]) => [of[figure], { cache }]),
    );
  ofCaches('sum', 'bytes', 'Approximate memory of caches.', 'bytes');
  ofCaches('counter', 'hits_total', 'Values found in caches.', 'hits');
  ofCaches('counter', 'misses_total', 'Values not found in caches.', 'misses');
  for (const [kind, name, help, value] of [
    ['counter', 'ranges_wanted_total', 'Ranges that fields asked for.', () => reads.rangesWanted],
    ['counter', 'ranges_read_total', 'Ranges that were read for them, merged.', () => reads.rangesRead],
    ['counter', 'pages_decoded_total', 'Pages of markers that were decoded.', () => figures.pagesDecoded()],
    ['counter', 'markers_read_total', 'Markers that searches have looked at.', () => reads.markersRead],
    ['counter', 'markers_found_total', 'Those of them that were found.', () => reads.markersFound],
    ['sum', 'subscriptions', 'Active subscriptions.', () => figures.subscriptions()],
    ['sum', 'workers', 'Processes that answer requests.', () => 1],
  ] as const)
    addMetric(registry, kind, name, help, () => [[value()]]);
}
