import { svgElement } from '../dom/element.js';
import { formatNumber } from '../text/numbers.js';
import type { ViewCost } from './view-cost.js';

/** Number of views in the chart. */
export const MAX_VIEWS = 30;
const [WIDTH, HEIGHT] = [300, 44];
const SLOT = WIDTH / MAX_VIEWS;
const GAP = 2;
/** Height in px of the bar for a view that read nothing, so that it stays visible. */
const MIN_BAR = 3;

/** The latest views as bars whose height shows their read units, the most recent on the right. */
export function historyBars(views: readonly ViewCost[]): SVGElement {
  const most = Math.max(...views.map(({ readUnits }) => readUnits), 1);
  const label = `Read units of the last ${views.length} views: ${views.map(({ readUnits }) => formatNumber(readUnits)).join(', ')}`;
  const viewBox = `0 0 ${WIDTH} ${HEIGHT}`;
  const svg = svgElement('svg', { viewBox, role: 'img', 'aria-label': label, class: 'bars' });
  svg.append(svgElement('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }));
  for (const [index, { readUnits, queries, cacheHits }] of views.entries()) {
    // Square-root scale, so that a view of the whole world does not flatten all others.
    const height = Math.max(MIN_BAR, Math.sqrt(readUnits / most) * (HEIGHT - 4));
    const x = WIDTH - (views.length - index) * SLOT + GAP / 2;
    const title = `${queries} Query calls, ${formatNumber(readUnits)} read units, ${cacheHits} cache hits`;
    const bar = svgElement(
      'rect',
      { x, y: HEIGHT - height, width: SLOT - GAP, height, rx: 1.5 },
      svgElement('title', {}, title),
    );
    bar.classList.add(readUnits > 0 ? 'read' : 'cached');
    if (index === views.length - 1) bar.classList.add('latest');
    svg.append(bar);
  }
  return svg;
}
