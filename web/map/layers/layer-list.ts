import { mayCreate, mayWrite } from '../api/permissions.js';
import { accentOf, type Theme } from '../base-map/palette.js';
import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { countOf } from '../text/numbers.js';
import type { CollectionLayer, Drawn } from './collection-layer.js';

function countText({ collection: { count, zones } }: CollectionLayer): string {
  if (count === 0 && zones.nodes.length > 0) return 'Zones';
  return countOf(count, 'place');
}

/** The row of a collection: a switch, and buttons for points or heatmap. */
function row(layer: CollectionLayer, theme: Theme, onSet: (drawn: Drawn) => void): HTMLLIElement {
  const { collection, drawn, accent } = layer;
  const checkbox = element('input', { type: 'checkbox', role: 'switch' });
  checkbox.checked = drawn !== 'off';
  checkbox.addEventListener('change', () => onSet(checkbox.checked ? 'points' : 'off'));
  const dot = element('span', { class: 'dot' });
  dot.style.setProperty('--accent', accentOf(accent, theme));
  const text = element(
    'span',
    { class: 'text' },
    element('b', {}, collection.name),
    element('small', {}, countText(layer)),
  );
  const item = element('li', {}, element('label', {}, dot, text, checkbox));
  if (collection.description !== null) item.title = collection.description;
  if (drawn === 'off' || collection.count === 0) return item;
  const choice = (kind: 'points' | 'heat', label: string) => {
    const named = { 'aria-pressed': String(drawn === kind), 'data-key': `${collection.key} ${kind}` };
    return button(named, () => onSet(kind), icon(kind === 'heat' ? 'heat' : 'dots'), label);
  };
  const group = { class: 'choice', role: 'group', 'aria-label': `Display of ${collection.name}` };
  item.append(element('div', group, choice('points', 'Places'), choice('heat', 'Heatmap')));
  return item;
}

export interface LayerActions {
  readonly onSet: (layer: CollectionLayer, drawn: Drawn) => void;
  readonly onImport: () => void;
  readonly onNew: () => void;
}

/** Redraws the list of collections and keeps the focus. */
export function drawLayerList(
  place: HTMLElement,
  layers: readonly CollectionLayer[],
  theme: Theme,
  { onSet, onImport, onNew }: LayerActions,
): void {
  const all = () => [...place.querySelectorAll<HTMLElement>('input, button')];
  const focused = all().findIndex((each) => each === document.activeElement);
  const key = all()[focused]?.dataset['key'];
  const rows = layers.map((layer) => row(layer, theme, (drawn) => onSet(layer, drawn)));
  const more = element(
    'div',
    { class: 'more' },
    ...(mayWrite() ? [button({ 'data-key': 'import' }, onImport, icon('upload'), 'Import a file')] : []),
    ...(mayCreate() ? [button({ 'data-key': 'new' }, onNew, icon('plus'), 'New collection')] : []),
  );
  place.replaceChildren(
    ...(rows.length > 0 ? [element('ul', {}, ...rows)] : []),
    ...(more.hasChildNodes() ? [more] : []),
  );
  if (focused < 0) return;
  (all().find((each) => key !== undefined && each.dataset['key'] === key) ?? all()[focused])?.focus();
}
