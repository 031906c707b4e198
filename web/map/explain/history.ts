import type { Pan } from './pan.js';

const SVG = 'http://www.w3.org/2000/svg';
/** Views that are remembered. */
export const REMEMBERED = 30;
const [WIDTH, HEIGHT] = [300, 44];
const SLOT = WIDTH / REMEMBERED;
const GAP = 2;
/** What is too little to see, and nothing at all, is still a view. */
const LEAST = 3;

const NUMBER = Intl.NumberFormat('en', { maximumFractionDigits: 1 });

function drawn(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** The last views as bars, as high as their read units are many; the latest on the right. */
export function historyBars(pans: readonly Pan[]): SVGElement {
  const most = Math.max(...pans.map(({ readUnits }) => readUnits), 1);
  const label = `Read units of the last ${pans.length} views: ${pans.map(({ readUnits }) => NUMBER.format(readUnits)).join(', ')}`;
  const svg = drawn('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, class: 'bars' });
  svg.append(drawn('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }));
  for (const [at, { readUnits, queries, cacheHits }] of pans.entries()) {
    // By the root, or one world view would flatten all that comes after it.
    const height = Math.max(LEAST, Math.sqrt(readUnits / most) * (HEIGHT - 4));
    const x = WIDTH - (pans.length - at) * SLOT + GAP / 2;
    const bar = drawn('rect', { x, y: HEIGHT - height, width: SLOT - GAP, height, rx: 1.5 });
    bar.classList.add(readUnits > 0 ? 'read' : 'cached');
    if (at === pans.length - 1) bar.classList.add('latest');
    const title = document.createElementNS(SVG, 'title');
    title.textContent = `${queries} Query calls, ${NUMBER.format(readUnits)} read units, ${cacheHits} cache hits`;
    bar.append(title);
    svg.append(bar);
  }
  return svg;
}
