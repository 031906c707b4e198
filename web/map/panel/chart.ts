import type { Reading } from '../api/documents.js';
import { element, svgElement } from '../dom/element.js';

const [WIDTH, HEIGHT, MARGIN] = [240, 44, 4];
/** Maximum number of charts that fit in a card. */
const MAX_CHARTS = 6;
const NUMBER = Intl.NumberFormat('en', { maximumSignificantDigits: 5 });
const TIME = Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

interface Sample {
  readonly at: number;
  readonly value: number;
}

/** The numeric values by name, earliest first. */
function series(readings: readonly Reading[]): Map<string, Sample[]> {
  const byName = new Map<string, Sample[]>();
  const inTime = readings.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  for (const { at, values } of inTime) {
    for (const [name, value] of Object.entries(values)) {
      if (typeof value !== 'number') continue;
      byName.set(name, [...(byName.get(name) ?? []), { at: Date.parse(at), value }]);
    }
  }
  return byName;
}

/** A line over time, scaled to the range of its values, with a dot at the last one. */
function line(samples: readonly Sample[], label: string): SVGElement {
  const values = samples.map(({ value }) => value);
  const times = samples.map(({ at }) => at);
  const [least, span] = [Math.min(...values), Math.max(...values) - Math.min(...values)];
  const [begin, lasts] = [times[0] ?? 0, (times.at(-1) ?? 0) - (times[0] ?? 0)];
  const at = (sample: Sample): readonly [x: number, y: number] => [
    lasts === 0 ? WIDTH - MARGIN : MARGIN + ((sample.at - begin) / lasts) * (WIDTH - 2 * MARGIN),
    span === 0 ? HEIGHT / 2 : HEIGHT - MARGIN - ((sample.value - least) / span) * (HEIGHT - 2 * MARGIN),
  ];
  const points = samples.map(at);
  const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const [[lastX, lastY] = [0, 0]] = points.slice(-1);
  const svg = svgElement('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label });
  const [firstX] = points[0] ?? [0];
  svg.append(
    svgElement('polygon', { points: `${firstX},${HEIGHT} ${path} ${lastX},${HEIGHT}`, class: 'under' }),
    svgElement('polyline', { points: path, class: 'line' }),
    svgElement('circle', { cx: lastX, cy: lastY, r: 2.6 }),
  );
  return svg;
}

/** A small chart for each numeric value in the latest readings; empty if there are none. */
export function charts(readings: readonly Reading[]): HTMLElement[] {
  const [latest] = readings.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  if (latest === undefined) return [];
  const figures = [...series(readings)].slice(0, MAX_CHARTS).map(([name, samples]) => {
    const last = NUMBER.format(samples.at(-1)?.value ?? Number.NaN);
    const values = samples.map(({ value }) => value);
    const range = `${NUMBER.format(Math.min(...values))} to ${NUMBER.format(Math.max(...values))}`;
    const label = `${name}: latest ${last}, ${range} over ${samples.length} readings`;
    const caption = element('figcaption', {}, element('span', {}, name), element('b', {}, last));
    return element('figure', { title: range }, caption, line(samples, label));
  });
  const texts = Object.entries(latest.values).filter(([, value]) => typeof value === 'string');
  return [
    element('h3', {}, 'Readings'),
    ...figures,
    ...texts.map(([name, value]) => element('p', { class: 'text' }, element('span', {}, name), String(value))),
    element('p', { class: 'when' }, `Latest ${TIME.format(new Date(latest.at))}`),
  ];
}
