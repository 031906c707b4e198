import { mean, quantile, shown, table } from '../rig/statistics.js';
import type { Row } from '../section.js';
import type { Seen } from './requests.js';

/** CELLPORT_SECONDS shortens each run. */
export const SECONDS = Number(process.env['CELLPORT_SECONDS'] ?? 50);
export const CLIENTS = 8;

export interface Fleet {
  readonly servers: number;
  readonly redis: boolean;
  readonly sticky: boolean;
  /** Whether a Lambda runs the consumer instead of one of the servers. */
  readonly lambda: boolean;
}

export interface Run {
  readonly fleet: Fleet;
  readonly kills: number;
  readonly seen: Seen;
  /** What servers answered that differs from the writes, after writers have rested. */
  readonly differences: readonly string[];
}

export const nameOf = ({ servers, redis, sticky, lambda }: Fleet) =>
  [
    `${servers} server${servers === 1 ? '' : 's'}`,
    ...(redis ? ['Redis'] : []),
    ...(sticky ? ['sticky'] : []),
    ...(lambda ? ['a Lambda keeps the cells'] : []),
  ].join(', ');

export function rowsOf(runs: readonly Run[]): Row[] {
  const kills = runs.reduce((sum, run) => sum + run.kills, 0);
  const failed = runs.flatMap(({ seen }) => seen.failed);
  const wrong = runs.flatMap(({ seen, differences }) => [...seen.wrongCounts, ...differences]);
  const requests = runs.reduce((sum, { seen }) => sum + seen.requests, 0);
  const retried = runs.reduce((sum, { seen }) => sum + seen.retried, 0);
  return [
    {
      what: `requests that failed twice, in ${kills} kills of a server`,
      bar: 'none',
      measured: [`${failed.length}`, ...new Set(failed)].slice(0, 3).join(': '),
      against: `${requests.toLocaleString('en')} requests, ${retried} retried`,
      holds: failed.length === 0,
    },
    {
      what: 'counts and, once writers rest, markers that differ from a linear scan',
      bar: 'none',
      measured: [`${wrong.length}`, ...new Set(wrong)].slice(0, 3).join(': '),
      against: '',
      holds: wrong.length === 0,
    },
  ];
}

export const textOf = (runs: readonly Run[]): string =>
  [
    `Kills: for ${SECONDS} s, ${CLIENTS} clients pan and a writer moves one of 500 vehicles, five times a second each; every 20 s, a server is`,
    'killed and restarted. Failed requests go to the next once. Least to most by server:\n',
    table([
      [
        'fleet',
        'ms p50/p99',
        'read units a map',
        '% from pages alone',
        'a write seen by its server, s p50/p99',
        'by another',
      ],
      ...runs.map(({ fleet, seen }) => [
        nameOf(fleet),
        `${shown(quantile(seen.ms, 0.5), 0)}/${shown(quantile(seen.ms, 0.99), 0)}`,
        spread(seen.costs, (costs) => mean(costs.map(({ readUnits }) => readUnits))),
        fromPages(seen),
        latency(seen.own),
        fleet.servers > 1 ? latency(seen.other) : '',
      ]),
    ]),
  ].join('\n');

function fromPages({ costs }: Seen): string {
  const share = (some: Seen['costs'][number]) => {
    const sources = some.flatMap(({ markersFrom }) => markersFrom ?? []);
    return (100 * sources.filter((source) => source === 'PAGES').length) / Math.max(1, sources.length);
  };
  return spread(costs, share, 0);
}

/** The least and the greatest figure of the servers. */
function spread<T>(servers: readonly T[], figure: (of: T) => number, digits = 1): string {
  const figures = servers.map(figure);
  return [...new Set([Math.min(...figures), Math.max(...figures)].map((each) => shown(each, digits)))].join('–');
}

const latency = (ms: readonly number[]) =>
  `${shown(quantile(ms, 0.5) / 1_000, 2)}/${shown(quantile(ms, 0.99) / 1_000, 2)}`;
