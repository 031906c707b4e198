import type { MarkerDetails, ZoneDetails } from '../api/documents.js';
import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { positionText } from '../text/position-text.js';
import { charts } from './chart.js';

const NUMBER = Intl.NumberFormat('en');

function valueText(value: unknown): string {
  if (typeof value === 'number') return NUMBER.format(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function properties(of: Readonly<Record<string, unknown>>): HTMLElement[] {
  const rows = Object.entries(of).flatMap(([name, value]) => [
    element('dt', {}, name),
    element('dd', {}, valueText(value)),
  ]);
  return rows.length > 0 ? [element('dl', {}, ...rows)] : [];
}

function head(title: string, kind: string, onClose: () => void): HTMLElement {
  const close = button({ class: 'icon', 'aria-label': 'Close' }, onClose, icon('close'));
  return element('header', {}, element('div', {}, element('h2', {}, title), element('p', {}, kind)), close);
}

/** The card of a marker, with its latest readings as charts; `extra` is appended. */
export function markerCard(marker: MarkerDetails, onClose: () => void, extra: readonly Node[]): Node[] {
  const { name, key, category, collection, place, position, readings, id } = marker;
  const kind = category === null ? collection.name : `${category} · ${collection.name}`;
  const path = place.map((each) => element('li', {}, each));
  return [
    head(name ?? key, kind, onClose),
    ...(path.length > 0 ? [element('ol', { class: 'path', 'aria-label': 'Place hierarchy' }, ...path)] : []),
    ...properties(marker.properties),
    ...(readings.length > 0 ? [element('div', { class: 'readings' }, ...charts(readings))] : []),
    element('p', { class: 'where' }, positionText(position)),
    element('p', { class: 'id' }, element('code', {}, id)),
    ...extra,
  ];
}

/** The card of a zone; `counts` shows what it contains. */
export function zoneCard(zone: ZoneDetails, counts: HTMLElement, onClose: () => void): Node[] {
  const { name, key, collection, properties: own, id } = zone;
  return [
    head(name ?? key, collection.name, onClose),
    counts,
    ...properties(own),
    element('p', { class: 'id' }, element('code', {}, id)),
  ];
}

/** The card of a position without a marker. */
export function positionCard(position: MarkerDetails['position'], onClose: () => void): Node[] {
  return [head(positionText(position), 'Position', onClose)];
}

/** The card shown while a marker is loading. */
export function loadingCard(name: string, onClose: () => void): Node[] {
  return [head(name, 'Loading …', onClose)];
}
