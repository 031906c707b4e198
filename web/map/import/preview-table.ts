import { element } from '../dom/element.js';
import { positionOf, type Survey } from './survey.js';

/** Number of properties shown. */
const SHOWN_PROPERTIES = 3;

/** The first rows of a file as they would be imported. */
export function previewTable({ first }: Survey): HTMLElement {
  const names = [...new Set(first.flatMap(({ properties }) => Object.keys(properties)))].slice(0, SHOWN_PROPERTIES);
  const cell = (value: unknown) => element('td', {}, typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  const rows = first.map((marker) => {
    const [lng, lat] = positionOf({ marker });
    const { key, name, category, properties, keyFromContent } = marker;
    const values = [keyFromContent ? 'from content' : key, name ?? '', category ?? '', lat, lng];
    return element('tr', {}, ...[...values, ...names.map((each) => properties[each])].map(cell));
  });
  const heads = ['key', 'name', 'category', 'lat', 'lng', ...names].map((each) =>
    element('th', { scope: 'col' }, each),
  );
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows));
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'First rows' }, table);
}
