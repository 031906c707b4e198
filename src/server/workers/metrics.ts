import { AggregatorRegistry } from 'prom-client';

import type { HotKey, HotKeys, Metrics } from '../../http/metrics.js';
import { weightOf } from '../../store/consumption/top-keys.js';

/** The metrics of one process, as another one can read them. */
export interface Snapshot {
  readonly hotKeys: HotKeys;
  readonly others: readonly object[];
}

/** The metrics of this process. */
export async function snapshotOf(metrics: Metrics): Promise<Snapshot> {
  return { hotKeys: await metrics.hotKeys(), others: await (await metrics.registry()).getMetricsAsJSON() };
}

/** Adds up what the same key consumes. */
function added(rows: readonly HotKey[]): HotKey[] {
  const sums = new Map<string, HotKey>();
  for (const row of rows) {
    const name = [row.table, row.index ?? '', row.key].join('\n');
    const { readUnits = 0, writeUnits = 0 } = sums.get(name) ?? {};
    sums.set(name, { ...row, readUnits: readUnits + row.readUnits, writeUnits: writeUnits + row.writeUnits });
  }
  return [...sums.values()];
}

/** The hottest keys of several processes: those that are hot in any of them. */
function mergedHotKeys(all: readonly HotKeys[]): HotKeys {
  const sum = (of: (one: HotKeys) => number) => all.reduce((total, one) => total + of(one), 0);
  const units = { readUnits: sum((one) => one.readUnits), writeUnits: sum((one) => one.writeUnits) };
  const weight = Math.max(weightOf(units), Number.MIN_VALUE);
  const keys = added(all.flatMap((one) => one.keys)).map((key) => ({ ...key, share: weightOf(key) / weight }));
  return {
    ...units,
    seconds: Math.max(...all.map(({ seconds }) => seconds)),
    missedAtMost: sum((one) => one.missedAtMost * weightOf(one)) / weight,
    keys: keys.toSorted((a, b) => b.share - a.share).slice(0, Math.max(...all.map((one) => one.keys.length))),
  };
}

/**
 * What processes that have ended have counted: sums of counters must not fall, as whoever computes rates
 * takes that for a restart and counts all processes again.
 */
export async function countedBy(ended: readonly Snapshot[]): Promise<Snapshot> {
  const all = await AggregatorRegistry.aggregate(ended.map(({ others }) => others)).getMetricsAsJSON();
  const others = all.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
  return { hotKeys: { readUnits: 0, writeUnits: 0, seconds: 0, missedAtMost: 0, keys: [] }, others };
}

/** The sums of the metrics of several processes. */
export function mergedMetrics(snapshots: () => Promise<readonly Snapshot[]>): Metrics {
  return {
    hotKeys: async () => mergedHotKeys((await snapshots()).map(({ hotKeys }) => hotKeys)),
    registry: async () => AggregatorRegistry.aggregate((await snapshots()).map(({ others }) => others)),
  };
}
