import type { Read } from '../../../src/client/public.js';
import { element } from '../dom/element.js';
import { countOf, formatNumber } from '../text/numbers.js';
import { historyBars } from './history.js';
import { holds, type ViewCost } from './view-cost.js';

const EXACT = Intl.NumberFormat('en', { maximumFractionDigits: 3 });

export interface Panel {
  /** Shows the last of these views in detail, and all of them as bars. */
  show(views: readonly ViewCost[]): void;
  /** Highlights rows by index; `reveal` scrolls to the first of them. */
  mark(rows: readonly number[], reveal: boolean): void;
}

const figure = (name: string, value: string, unit = '') =>
  element('div', {}, element('dt', {}, name), element('dd', {}, value, ...(unit ? [element('small', {}, unit)] : [])));

/** Items read per feature shown. */
function ratio({ items, shown }: ViewCost): HTMLElement {
  const most = Math.max(items, shown, 1);
  const bar = (tag: 'i' | 'b', value: number) => {
    const made = element(tag);
    // Set by script, because the page's content security policy forbids style attributes.
    made.style.width = `${(100 * value) / most}%`;
    return made;
  };
  const track = element('div', { class: 'track', 'aria-hidden': 'true' }, bar('i', items), bar('b', shown));
  const perShown = shown > 0 ? `${EXACT.format(Math.round((100 * items) / shown) / 100)} per feature` : '';
  const text = element(
    'p',
    {},
    element('span', { class: 'is-read' }, element('b', {}, formatNumber(items)), ' items read'),
    element('span', { class: 'each' }, items === 0 ? 'nothing read' : perShown),
    element('span', { class: 'is-shown' }, element('b', {}, formatNumber(shown)), ' shown'),
  );
  return element('div', { class: 'ratio' }, text, track);
}

function keysOf({ from, to }: Read): string {
  if (from === null && to === null) return 'all keys';
  if (from === to) return from ?? '';
  return `${from ?? 'first key'} … ${to ?? 'last key'}`;
}

function row(read: Read, index: number): HTMLTableRowElement {
  const { index: name, pk, items, readUnits, cached } = read;
  const keys = keysOf(read);
  return element(
    'tr',
    { class: cached ? 'cached' : 'read', 'data-at': String(index), tabindex: index === 0 ? '0' : '-1' },
    element(
      'th',
      { scope: 'row' },
      element('i', { class: 'swatch', 'aria-hidden': 'true' }),
      element('code', { class: 'pk', title: pk }, element('b', {}, name), ' ', pk),
      element('code', { class: 'keys', title: keys }, keys),
    ),
    element('td', {}, formatNumber(items)),
    element('td', {}, cached ? 'cache' : EXACT.format(readUnits)),
  );
}

const rowOf = ({ target }: Event) => (target as Element).closest<HTMLElement>('tbody tr');

/** Lets arrow keys, Home and End move the focus among rows, so that the whole table is one stop for the Tab key. */
function addArrowKeys(body: HTMLElement): void {
  body.addEventListener('keydown', (event) => {
    const current = rowOf(event);
    const targets: Readonly<Record<string, Element | null | undefined>> = {
      ArrowDown: current?.nextElementSibling,
      ArrowUp: current?.previousElementSibling,
      Home: body.firstElementChild,
      End: body.lastElementChild,
    };
    const next = targets[event.key];
    if (!(next instanceof HTMLElement) || !current) return;
    event.preventDefault();
    current.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

/** The list of reads. Calls `onRow` with the index of the row that is hovered or focused, and with undefined when it no longer is. */
function listOf({ reads, readsLeftOut, byKey, readUnits }: ViewCost, onRow: (index?: number) => void): HTMLElement {
  const body = element('tbody', {}, ...reads.map(row));
  addArrowKeys(body);
  const head = ['Range', 'Items', 'Units'].map((name) => element('th', { scope: 'col' }, name));
  const caption = 'Key ranges in the order in which they were read. Use the arrow keys to move between rows.';
  const table = element(
    'table',
    {},
    element('caption', { class: 'visually-hidden' }, caption),
    element('thead', {}, element('tr', {}, ...head)),
    body,
  );
  const enter = (event: Event) => {
    const index = rowOf(event)?.dataset['at'];
    onRow(index === undefined ? undefined : Number(index));
  };
  table.addEventListener('mouseover', enter);
  table.addEventListener('mouseleave', () => onRow());
  table.addEventListener('focusin', enter);
  table.addEventListener('focusout', () => onRow());
  const units = readUnits - reads.reduce((sum, read) => sum + read.readUnits, 0);
  const more = [
    ...(readsLeftOut > 0 ? [countOf(readsLeftOut, 'more range')] : []),
    ...(byKey > 0 ? [`${countOf(byKey, 'item')} read by key (${countOf(units, 'unit')})`] : []),
  ];
  const rest = more.length > 0 ? [element('p', { class: 'more' }, `Plus ${more.join(' and ')}`)] : [];
  return element('div', { class: 'list' }, table, ...rest);
}

function summaryOf({ answers, queries, readUnits, items, shown }: ViewCost): string {
  if (answers === 0) return 'No requests: this view was already loaded.';
  const read = `${countOf(queries, 'Query call')}, ${countOf(readUnits, 'read unit')}, ${countOf(items, 'item')} read`;
  return `${read}, ${formatNumber(shown)} shown.`;
}

/**
 * The share of the pages' markers that the map shows: the others are outside the view, filtered out, or in clusters.
 */
function pagesOf({ pages, markers }: ViewCost): HTMLElement[] {
  const all = pages.reduce((sum, page) => sum + page.markers, 0);
  if (all === 0) return [];
  const shown = markers.filter(({ position: { lng, lat } }) =>
    pages.some(({ bounds }) => holds(bounds, { west: lng, south: lat, east: lng, north: lat })),
  );
  const text = `${formatNumber(shown.length)} of ${countOf(all, 'marker')} in ${countOf(pages.length, 'page')} shown`;
  return [element('p', { class: 'pages' }, text)];
}

/** The history of read units, with a caption. */
function historyOf(views: readonly ViewCost[]): HTMLElement {
  const most = Math.max(...views.map(({ readUnits }) => readUnits));
  const caption = element(
    'figcaption',
    {},
    element('span', {}, `Read units, last ${countOf(views.length, 'view')}`),
    element('span', {}, `max ${formatNumber(most)}`),
  );
  return element('figure', {}, caption, historyBars(views));
}

function legendOf({ reads }: ViewCost): HTMLElement {
  const cached = reads.filter((read) => read.cached).length;
  const entry = (kind: string, text: string) =>
    element('span', { class: kind }, element('i', { class: 'swatch' }), text);
  const entries = [
    entry('read', `${reads.length - cached} read`),
    entry('cached', `${cached} from cache`),
    entry('requested', 'requested area'),
  ];
  return element('p', { class: 'legend' }, ...entries);
}

/** Fills an element with the cost of views. `onRow`: see `listOf`. */
export function createPanel(place: HTMLElement, onRow: (index?: number) => void): Panel {
  const content = element('div', { class: 'view' });
  const status = element('p', { class: 'visually-hidden', role: 'status' });
  const title = element('h2', {}, 'Explain');
  const header = element('header', {}, title, element('p', {}, 'What this view read from DynamoDB'));
  place.classList.add('explain');
  place.replaceChildren(header, content, status);

  return {
    show(views) {
      const view = views.at(-1);
      if (!view) return;
      const { queries, readUnits, cacheHits, ms, answers, reads } = view;
      const figures = [
        figure('Query calls', formatNumber(queries)),
        figure('Read units', formatNumber(readUnits)),
        figure('Cache hits', formatNumber(cacheHits)),
        figure('Time', formatNumber(Math.round(ms)), 'ms'),
      ];
      const noReads = answers === 0 ? summaryOf(view) : 'No key range was read.';
      content.replaceChildren(
        element('dl', {}, ...figures),
        ratio(view),
        ...pagesOf(view),
        historyOf(views),
        legendOf(view),
        reads.length === 0 ? element('p', { class: 'none' }, noReads) : listOf(view, onRow),
      );
      status.textContent = summaryOf(view);
    },
    mark(rows, reveal) {
      for (const marked of content.querySelectorAll('tr.on')) marked.classList.remove('on');
      const found = rows.map((index) => content.querySelector(`tr[data-at="${index}"]`));
      for (const each of found) each?.classList.add('on');
      if (reveal) found[0]?.scrollIntoView({ block: 'nearest' });
    },
  };
}
