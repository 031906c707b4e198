import { svgElement } from './element.js';

/** Line icons, 20 by 20 units, in the color of the text. */
const PATHS = {
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  layers: 'M10 3l7.5 4L10 11 2.5 7zM3 11l7 3.7L17 11M3 14.5l7 3 7-3',
  list: 'M7 5h10M7 10h10M7 15h10M3 5h.01M3 10h.01M3 15h.01',
  pencil: 'M3.5 16.5l.8-3.5L13.5 3.8l2.7 2.7L7 15.7zM11.6 5.7l2.7 2.7',
  explain: 'M3 17V9.5M7.7 17V4M12.3 17v-5M17 17V7',
  sun: 'M10 6.5a3.5 3.5 0 1 0 .01 0zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  moon: 'M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z',
  code: 'M7 6l-4 4 4 4M13 6l4 4-4 4',
  close: 'M5 5l10 10M15 5L5 15',
  undo: 'M7.5 4.5L3.5 8.5l4 4M4 8.5h8a4 4 0 0 1 0 8H9',
  dots: 'M5.5 6a1.5 1.5 0 1 0 .01 0zM14.5 5a2 2 0 1 0 .01 0zM9 12.5a2 2 0 1 0 .01 0z',
  heat: 'M3.5 3.5h5.5v5.5h-5.5zM11 3.5h5.5v5.5h-5.5zM3.5 11h5.5v5.5h-5.5zM11 11h5.5v5.5h-5.5z',
  redo: 'M12.5 4.5l4 4-4 4M16 8.5H8a4 4 0 0 0 0 8h3',
  search: 'M8.5 3.5a5 5 0 1 0 .01 0zM12.2 12.2l4.3 4.3',
  locate: 'M10 5.5a4.5 4.5 0 1 0 .01 0zM10 2v3.5M10 14.5V18M2 10h3.5M14.5 10H18',
  filter: 'M3 6h8M15 6h2M13 4a2 2 0 1 0 .01 0zM3 14h2M9 14h8M7 12a2 2 0 1 0 .01 0z',
  share: 'M10 12V3M6.5 6L10 2.5 13.5 6M6 9H4v8h12V9h-2',
  full: 'M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4',
  keys: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7',
  more: 'M4.5 9.2a.8.8 0 1 0 .01 0zM10 9.2a.8.8 0 1 0 .01 0zM15.5 9.2a.8.8 0 1 0 .01 0z',
  upload: 'M10 13.5V4M6 8l4-4 4 4M3.5 13v3.5h13V13',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon, hidden from screen readers: the element that contains it has a label. */
export function icon(name: IconName): SVGSVGElement {
  const attributes = { viewBox: '0 0 20 20', 'aria-hidden': 'true', class: 'drawn' };
  return svgElement('svg', attributes, svgElement('path', { d: PATHS[name] }));
}
