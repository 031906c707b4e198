import './filter.css';

import type { Theme } from '../base-map/palette.js';
import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { gradientOf } from '../heat/draw.js';
import type { Heat } from '../heat/heat-drawing.js';
import { ticksOf, unitText } from '../heat/text.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { COLORS, middleOf, OTHER, RAMP } from '../rules/look.js';
import { isRange, type Condition, type Range, type Rules } from '../rules/rules.js';

const COMPACT = Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const PRECISE = Intl.NumberFormat('en', { maximumSignificantDigits: 12 });
const fieldName = ({ field }: Condition) => field ?? 'category';

const UNFILTERED = {
  points:
    'Clusters include places that do not match: there are too many here to filter. Zoom in to see only matching places.',
  heat: 'The heatmap includes places that do not match.',
};

const ignoredUpTo = (zoom: number) =>
  `Circles with a number stand for many places, so color and size do not apply to them. Zoom in until single places show, here from about zoom ${zoom}.`;

/** A condition as text. */
function conditionText(condition: Condition): string {
  const name = fieldName(condition);
  if (!isRange(condition)) return `${name}: ${condition.values.join(', ')}`;
  const [from, to] = [condition.from, condition.to].map((each) => PRECISE.format(each));
  if (condition.to === Infinity) return `${name} from ${from}`;
  return condition.from === -Infinity ? `${name} up to ${to}` : `${name} ${from} to ${to}`;
}

const scaleLabels = (range: Range) =>
  element(
    'div',
    { class: 'ends' },
    ...[range.from, middleOf(range), range.to].map((value) =>
      element('span', {}, COMPACT.format(value).replace('K', 'k')),
    ),
  );

function ramp(range: Range, theme: Theme): HTMLElement[] {
  const bar = element('div', { class: 'ramp' });
  bar.style.background = `linear-gradient(to right, ${RAMP[theme].join(', ')})`;
  return [bar, scaleLabels(range)];
}

function swatch(color: string, text: string): HTMLElement {
  const dot = element('i', {});
  dot.style.background = color;
  return element('li', {}, dot, text);
}

function colorKey(rule: Condition, theme: Theme): HTMLElement[] {
  const title = element('h3', {}, `Color: ${fieldName(rule)}`);
  if (isRange(rule)) return [title, ...ramp(rule, theme)];
  const values = rule.values.slice(0, COLORS[theme].length);
  const items = values.map((value, index) => swatch(COLORS[theme][index] ?? '', value));
  return [title, element('ul', {}, ...items, swatch(OTHER[theme], 'other'))];
}

function sizeKey(range: Range): HTMLElement[] {
  const dots = element('div', { class: 'dots', 'aria-hidden': 'true' }, element('i'), element('i'), element('i'));
  return [element('h3', {}, `Size: ${fieldName(range)}`), dots, scaleLabels(range)];
}

/** A condition with a button that removes it. */
function conditionRow(condition: Condition, onDrop: () => void): HTMLElement {
  const text = conditionText(condition);
  const drop = button({ class: 'icon', 'aria-label': `Remove filter: ${text}` }, onDrop, icon('close'));
  return element('p', { class: 'condition' }, element('span', {}, text), drop);
}

function heatKey(layer: CollectionLayer, heat: Heat, theme: Theme): HTMLElement[] {
  const bar = element('div', { class: 'ramp' });
  bar.style.background = gradientOf(layer.accent, theme);
  const ticks = ticksOf(heat).map(({ text, share }) => {
    const tick = element('span', {}, text);
    tick.style.insetInlineEnd = `${100 * (1 - share)}%`;
    return tick;
  });
  return [element('p', { class: 'note' }, unitText(heat)), bar, element('div', { class: 'ticks' }, ...ticks)];
}

function layerKey(layer: CollectionLayer, theme: Theme, onSet: (rules: Rules) => void): HTMLElement[] {
  const { rules, drawn, isUnfiltered, collection, zoomOfPlaces, heat } = layer;
  const { conditions, color, size } = rules;
  const isEmpty = conditions.length === 0 && !color && !size;
  if (drawn === 'off' || (isEmpty && !heat)) return [];
  const rows = conditions.map((each) =>
    conditionRow(each, () => onSet({ ...rules, conditions: conditions.filter((other) => other !== each) })),
  );
  return [
    element('h2', {}, collection.name),
    ...(heat ? heatKey(layer, heat, theme) : []),
    ...rows,
    ...(isUnfiltered ? [element('p', { class: 'note', role: 'status' }, UNFILTERED[drawn])] : []),
    ...(color && drawn !== 'heat' ? colorKey(color, theme) : []),
    ...(size && drawn !== 'heat' ? sizeKey(size) : []),
    ...((color ?? size) && drawn !== 'heat' && zoomOfPlaces !== undefined
      ? [element('p', { class: 'note', role: 'status' }, ignoredUpTo(zoomOfPlaces))]
      : []),
  ];
}

/** Draws the legend: the meaning of heatmap colors, and the filters, colors and sizes in use. */
export function drawLegend(
  place: HTMLElement,
  layers: readonly CollectionLayer[],
  theme: Theme,
  onSet: (layer: CollectionLayer, rules: Rules) => void,
): void {
  const content = layers.flatMap((layer) => layerKey(layer, theme, (rules) => onSet(layer, rules)));
  place.hidden = content.length === 0;
  place.replaceChildren(...content);
}
