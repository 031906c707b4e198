import { escaped } from './escaped.js';
import type { Readiness } from './health.js';
import type { HotKeys } from './metrics.js';

/** A metric of a registry, as JSON. */
interface Metric {
  readonly name: string;
  readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, string>> }[];
}

const REFRESH_S = 5;
const STYLE = `:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 2rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
mark { background: #18733a; border-radius: .3rem; color: #fff; padding: .1rem .5rem; } .wrong mark { background: #b3261e; }
div { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { border-bottom: 1px solid #8885; padding: .25rem .4rem .25rem 0; text-align: left; vertical-align: top; }
td:first-child { min-width: 7rem; } p { border-left: .3rem solid #b3261e; padding-left: .5rem; }`;

const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
const percent = (share: number) => (Number.isFinite(share) ? `${number(100 * share)} %` : null);
const megabytes = (bytes: number) => `${number(bytes / 1024 ** 2)} MB`;
const seconds = (ms: number | null) => (ms === null ? null : `${number(ms / 1_000)} s`);

type Value = string | number | boolean | null | undefined;

function shown(value: Value): string {
  if (typeof value === 'number') return number(value);
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : escaped(value ?? '–');
}

type Row = Readonly<Record<string, Value>>;

const line = (tag: string, cells: readonly Value[]) =>
  `<tr>${cells.map((cell) => `<${tag}>${shown(cell)}</${tag}>`).join('')}</tr>`;
const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `<h2>${title}</h2>\n<div><table>${lines.join('\n')}</table></div>\n`;
const facts = (title: string, row: Row | null) =>
  section(title, row ? Object.entries(row).map((pair) => line('td', pair)) : []);
const list = (title: string, rows: readonly Row[]) =>
  section(
    title,
    rows[0] ? [line('th', Object.keys(rows[0])), ...rows.map((row) => line('td', Object.values(row)))] : [],
  );

/** What a server does, as a page without scripts that loads itself again. */
export function statusPage(readiness: Readiness, hot: HotKeys, metrics: readonly object[]): string {
  const { ready, reasons, clock, stream, load, search, sources } = readiness;
  const byName = new Map((metrics as readonly Metric[]).map(({ name, values }) => [name, values]));
  const values = (name: string) => byName.get(name) ?? [];
  const sum = (name: string, cache?: string) =>
    values(name).reduce((all, { value, labels }) => (labels['cache'] === cache ? all + value : all), 0);
  const { version, node } = values('cellport_build_info')[0]?.labels ?? {};
  const gap = stream?.gap && `There is a gap in the stream: ${stream.gap.reason}`;
  const wrong = [...reasons, clock.warning, gap].filter((reason) => typeof reason === 'string');
  const state = ready ? 'ready' : 'not ready';
  const caches = values('cellport_cache_bytes').map(({ value, labels: { cache = '' } }) => {
    const [hits, misses] = [sum('cellport_cache_hits_total', cache), sum('cellport_cache_misses_total', cache)];
    return {
      Cache: cache,
      Memory: megabytes(value),
      'Looked up': hits + misses,
      Found: percent(hits / (hits + misses)),
    };
  });
  const parts = [
    facts('Server', {
      Workers: sum('cellport_workers'),
      Operations: sum('cellport_requests_total'),
      Refused: sum('cellport_refused_total'),
      Subscriptions: sum('cellport_subscriptions'),
      'Read units a second': hot.readUnits,
      'Write units a second': hot.writeUnits,
      Memory: megabytes(sum('process_resident_memory_bytes')),
      'Event loop lag (p99)': `${number(1_000 * sum('nodejs_eventloop_lag_p99_seconds'))} ms`,
      Search: search ? [search.state, search.reason].filter(Boolean).join(': ') : 'off',
      ...(load && { Demo: load.reason ?? `${load.state}, ${number(load.cities)} cities` }),
      'Node.js': node,
    }),
    facts(
      'Stream',
      stream && {
        Behind: seconds(stream.behindMs),
        'Counts are exact': stream.countsExact,
        'Gap since': stream.gap?.since,
        'Dead letters': stream.deadLetters,
        'Read by this server': stream.owner,
      },
    ),
    list(
      'Sources',
      sources.map(({ collection: Collection, table: Table, behindMs, countsExact: Exact, failure: Failure }) => ({
        Collection,
        Table,
        Behind: seconds(behindMs),
        Exact,
        Failure,
      })),
    ),
    list(
      `Hottest keys, mean of ${number(hot.seconds)} s`,
      hot.keys.map(({ names: Key, share, readUnits, writeUnits }) => ({
        Key,
        Share: percent(share),
        'Reads/s': readUnits,
        'Writes/s': writeUnits,
      })),
    ),
    list('Caches', caches),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8" /><meta name="viewport" content="width=device-width" />
<meta http-equiv="refresh" content="${REFRESH_S}" /><title>Cellport: ${state}</title><style>${STYLE}</style></head>
<body><h1${ready ? '' : ' class="wrong"'}>Cellport ${shown(version)} <mark>${state}</mark></h1>
${wrong.map((reason) => `<p>${escaped(reason)}</p>\n`).join('')}${parts.join('')}</body></html>
`;
}
