import type { Advice } from '../../capacity/advice.js';
import type { Distribution } from '../../capacity/distribution.js';
import type { ReadCost } from '../../capacity/views.js';
import { escaped } from '../../http/escaped.js';
import { mapSvg } from './map.js';
import type { Section } from './sections.js';

/** A curve of a chart; points without a value are omitted. */
interface Curve {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

interface Chart {
  readonly title: string;
  /** Label and values of the horizontal axis. */
  readonly across: string;
  readonly at: readonly number[];
  readonly curves: readonly Curve[];
}

const WIDTH = 420;
const HEIGHT = 240;
const LEFT = 48;
const RIGHT = 12;
const TOP = 30;
const BOTTOM = 56;

/** The smallest of 1, 2, 5, 10, 20, 50 and so on that is not below a value. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return ([1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-12)) ?? 10) * power;
}

/** Draws a line chart as SVG, with linear axes; the vertical one starts at 0. */
function chartSvg({ title, across, at, curves }: Chart): string {
  const [least, most] = [Math.min(...at), Math.max(...at)];
  const top = niceAbove(Math.max(0, ...curves.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const x = (value: number) => LEFT + ((value - least) / Math.max(1, most - least)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const at1 = (value: number) => value.toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const line = at1(y(part * top));
    return `<path d="M${LEFT} ${line}H${WIDTH - RIGHT}" stroke="#ddd"/><text x="${LEFT - 6}" y="${line}" dy="4" text-anchor="end">${Number((part * top).toPrecision(3))}</text>`;
  });
  const ticks = at.map(
    (value) => `<text x="${at1(x(value))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${value}</text>`,
  );
  const lines = curves.map(({ color, values }) => {
    const points = values.flatMap((value, index) =>
      value === null ? [] : [`${at1(x(at[index] ?? 0))} ${at1(y(value))}`],
    );
    const dots = points.map((point) => `M${point}h0`).join('');
    return `<path d="M${points.join('L')}" fill="none" stroke="${color}" stroke-width="2"/><path d="${dots}" stroke="${color}" stroke-width="6" stroke-linecap="round"/>`;
  });
  const legend = curves.map(
    ({ name, color }, index) =>
      `<text x="${LEFT + index * 120}" y="${HEIGHT - 6}" fill="${color}" font-weight="bold">${name}</text>`,
  );
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" role="img" aria-label="${title}"><text x="${LEFT}" y="16" font-weight="bold">${title}</text>${grid.join('')}${ticks.join('')}<text x="${WIDTH - RIGHT}" y="${HEIGHT - BOTTOM + 32}" text-anchor="end">${across}</text>${lines.join('')}${legend.join('')}</svg>`;
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1d2b33}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}svg{max-width:100%;height:auto;font:11px system-ui,sans-serif;margin:.5rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #dde3e7}
th:first-child,td:first-child{text-align:left}`;

function sectionHtml({ title, text, rows }: Section, level: 1 | 2): string {
  const rowHtml = (row: readonly string[], cell: 'th' | 'td') =>
    `<tr>${row.map((value) => `<${cell}>${escaped(value)}</${cell}>`).join('')}</tr>`;
  const [head, ...body] = rows ?? [];
  const table =
    head === undefined
      ? ''
      : `<div class="wide"><table><thead>${rowHtml(head, 'th')}</thead><tbody>${body.map((row) => rowHtml(row, 'td')).join('')}</tbody></table></div>`;
  const paragraphs = text.map((each) => `<p>${escaped(each)}</p>`).join('');
  return `<h${level}>${escaped(title)}</h${level}>${paragraphs}${table}`;
}

function chartsOf({ zooms, candidates }: Advice): Chart[] {
  const byZoom = (title: string, what: keyof ReadCost): Chart => ({
    title,
    across: 'zoom',
    at: zooms.map(({ zoom }) => zoom),
    curves: [
      { name: 'cells', color: '#b3671b', values: zooms.map(({ cells }) => cells?.[what] ?? null) },
      { name: 'pages', color: '#0b6e99', values: zooms.map(({ pages }) => pages[what]) },
      { name: 'index', color: '#7a3b8f', values: zooms.map(({ index }) => index[what]) },
    ],
  });
  return [
    byZoom('Requests per map', 'calls'),
    byZoom('Read units per map', 'units'),
    {
      title: 'Index Query calls per map',
      across: 'prefixLength',
      at: candidates.map(({ prefixLength }) => prefixLength),
      curves: [{ name: 'with the required shards', color: '#7a3b8f', values: candidates.map(({ map }) => map.calls) }],
    },
  ];
}

/** The report as one self-contained HTML page. */
export function htmlOf(sections: readonly Section[], advice: Advice, distribution: Distribution): string {
  const [summary, ...others] = sections;
  const { prefixLength } = advice.recommendation;
  const { prefix, share } = advice.candidates[prefixLength]?.hottest ?? { prefix: '', share: 1 };
  const hottest = prefix === '' ? 'all markers' : `prefix ${prefix}, ${(share * 100).toPrecision(2)}% of the markers`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Cellport capacity</title><style>${STYLE}</style></head>
<body>
${summary ? sectionHtml(summary, 1) : ''}
<h2>Where the markers are</h2>
${mapSvg(distribution, prefix)}
<p>Cells of geohash length 3, darker with more markers (logarithmic). Outlined: the hottest partition key (${escaped(hottest)}). Coasts: Natural Earth.</p>
${chartsOf(advice).map(chartSvg).join('\n')}
${others.map((section) => sectionHtml(section, 2)).join('\n')}
</body>
</html>
`;
}
