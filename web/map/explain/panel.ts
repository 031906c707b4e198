import type { Read } from '../../../src/client/public.js';
import { element } from '../element.js';
import { historyBars } from './history.js';
import type { Pan } from './pan.js';

const NUMBER = Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const EXACT = Intl.NumberFormat('en', { maximumFractionDigits: 3 });
const count = (number: number, one: string, many: string) => `${NUMBER.format(number)} ${number === 1 ? one : many}`;

export interface Panel {
  /** Shows the last of these views, and all of them as bars. */
  show(pans: readonly Pan[]): void;
  /** Marks rows, by their places in the list; `reveal` brings the first of them into sight. */
  mark(rows: readonly number[], reveal: boolean): void;
}

const figure = (name: string, value: string, unit = '') =>
  element('div', {}, element('dt', {}, name), element('dd', {}, value, ...(unit ? [element('small', {}, unit)] : [])));

/** Items that were read for one that is shown. */
function ratio({ items, shown }: Pan): HTMLElement {
  const most = Math.max(items, shown, 1);
  const track = element('div', { class: 'track', 'aria-hidden': 'true' }, element('i'), element('b'));
  const [read, seen] = track.children as unknown as readonly [HTMLElement, HTMLElement];
  read.style.width = `${(100 * items) / most}%`;
  seen.style.width = `${(100 * shown) / most}%`;
  const each =
    items === 0
      ? 'none was read'
      : shown > 0
        ? `${EXACT.format(Math.round((100 * items) / shown) / 100)} for each`
        : '';
  const text = element(
    'p',
    {},
    element('span', { class: 'is-read' }, element('b', {}, NUMBER.format(items)), ' items read'),
    element('span', { class: 'each' }, each),
    element('span', { class: 'is-shown' }, element('b', {}, NUMBER.format(shown)), ' shown'),
  );
  return element('div', { class: 'ratio' }, text, track);
}

function keysOf({ from, to }: Read): string {
  if (from === null && to === null) return 'all of it';
  if (from === to) return from ?? '';
  return `${from ?? 'its first key'} … ${to ?? 'its last key'}`;
}

function row(read: Read, at: number): HTMLTableRowElement {
  const { index, pk, items, readUnits, cached } = read;
  const kind = cached ? 'cached' : 'read';
  const keys = keysOf(read);
  return element(
    'tr',
    { class: kind, 'data-at': String(at), tabindex: at === 0 ? '0' : '-1' },
    element(
      'th',
      { scope: 'row' },
      element('i', { class: 'swatch', 'aria-hidden': 'true' }),
      element('code', { class: 'pk', title: pk }, element('b', {}, index), ' ', pk),
      element('code', { class: 'keys', title: keys }, keys),
    ),
    element('td', {}, NUMBER.format(items)),
    element('td', {}, cached ? 'cache' : EXACT.format(readUnits)),
  );
}

/** The list of what was read. `onRow` is told the place in it that is pointed at or has the focus, or that none is. */
function listOf({ reads, readsLeftOut, byKey, readUnits }: Pan, onRow: (at: number | undefined) => void): HTMLElement {
  const body = element('tbody', {}, ...reads.map(row));
  const head = ['Range', 'Items', 'Units'].map((name) => element('th', { scope: 'col' }, name));
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...head)), body);
  table.prepend(
    element('caption', { class: 'heard' }, 'Ranges in the order in which they were read. Arrow keys go through them.'),
  );
  const rowOf = ({ target }: Event) => (target as Element).closest<HTMLElement>('tbody tr');
  const tell = (event: Event) => {
    const at = rowOf(event)?.dataset['at'];
    onRow(at === undefined ? undefined : Number(at));
  };
  table.addEventListener('mouseover', tell);
  table.addEventListener('mouseleave', () => onRow(undefined));
  table.addEventListener('focusin', tell);
  table.addEventListener('focusout', () => onRow(undefined));
  // One stop for the Tab key, however many rows there are.
  body.addEventListener('keydown', (event) => {
    const now = rowOf(event);
    const steps: Readonly<Record<string, Element | null | undefined>> = {
      ArrowDown: now?.nextElementSibling,
      ArrowUp: now?.previousElementSibling,
      Home: body.firstElementChild,
      End: body.lastElementChild,
    };
    const next = steps[event.key];
    if (!(next instanceof HTMLElement) || !now) return;
    event.preventDefault();
    now.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  const units = readUnits - reads.reduce((sum, read) => sum + read.readUnits, 0);
  const more = [
    ...(readsLeftOut > 0 ? [`${count(readsLeftOut, 'more range', 'more ranges')}`] : []),
    ...(byKey > 0 ? [`${count(byKey, 'item', 'items')} by key: ${count(units, 'unit', 'units')}`] : []),
  ];
  const rest = more.length > 0 ? [element('p', { class: 'more' }, `And ${more.join(', ')}`)] : [];
  return element('div', { class: 'list' }, table, ...rest);
}

function summaryOf({ answers, queries, readUnits, items, shown }: Pan): string {
  if (answers === 0) return 'Nothing was asked: this page knew all of it.';
  const read = `${count(queries, 'Query call', 'Query calls')}, ${count(readUnits, 'read unit', 'read units')}`;
  return `${read}, ${count(items, 'item', 'items')} read, ${NUMBER.format(shown)} shown.`;
}

/** Fills an element with what views cost. */
export function createPanel(place: HTMLElement, onRow: (at: number | undefined) => void): Panel {
  const content = element('div', { class: 'told' });
  const heard = element('p', { class: 'heard', role: 'status' });
  const header = element(
    'header',
    {},
    element('h2', {}, 'Explain'),
    element('p', {}, 'What this view read from DynamoDB'),
  );
  place.classList.add('explain');
  place.replaceChildren(header, content, heard);

  return {
    show(pans) {
      const pan = pans.at(-1);
      if (!pan) return;
      const { queries, readUnits, cacheHits, ms, answers, reads } = pan;
      const cached = reads.filter((read) => read.cached).length;
      const most = Math.max(...pans.map((each) => each.readUnits));
      content.replaceChildren(
        element(
          'dl',
          {},
          figure('Query calls', NUMBER.format(queries)),
          figure('Read units', NUMBER.format(readUnits)),
          figure('Cache hits', NUMBER.format(cacheHits)),
          figure('Time', NUMBER.format(Math.round(ms)), 'ms'),
        ),
        ratio(pan),
        element(
          'figure',
          {},
          element(
            'figcaption',
            {},
            element('span', {}, `Read units, last ${count(pans.length, 'view', 'views')}`),
            element('span', {}, `most ${NUMBER.format(most)}`),
          ),
          historyBars(pans),
        ),
        element(
          'p',
          { class: 'legend' },
          element('span', { class: 'read' }, element('i', { class: 'swatch' }), `${reads.length - cached} read`),
          element('span', { class: 'cached' }, element('i', { class: 'swatch' }), `${cached} from a cache`),
          element('span', { class: 'asked' }, element('i', { class: 'swatch' }), 'asked for'),
        ),
        answers === 0 || reads.length === 0
          ? element('p', { class: 'none' }, answers === 0 ? summaryOf(pan) : 'No range was needed.')
          : listOf(pan, onRow),
      );
      heard.textContent = summaryOf(pan);
    },
    mark(rows, reveal) {
      for (const marked of content.querySelectorAll('tr.on')) marked.classList.remove('on');
      const found = rows.map((at) => content.querySelector(`tr[data-at="${at}"]`));
      for (const each of found) each?.classList.add('on');
      if (reveal) found[0]?.scrollIntoView({ block: 'nearest' });
    },
  };
}
