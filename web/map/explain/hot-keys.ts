import type { Map as MapLibre } from 'maplibre-gl';

import { ringOf } from '../../../src/client/geojson.js';
import type { Bounds } from '../../../src/client/public.js';
import { SERVER } from '../api/graphql.js';
import { element } from '../dom/element.js';
import { formatNumber } from '../text/numbers.js';

/** What the page uses of a key in the answer of /hot-keys. */
interface HotKey {
  readonly key: string;
  readonly names: string;
  readonly bounds: Bounds | null;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly share: number;
}

export interface HotKeyList {
  readonly element: HTMLElement;
  setVisible(on: boolean): void;
}

const EVERY_MS = 10_000;
const SHOWN = 5;
const AREA = 'explain-hot';
const TITLE = 'Partition keys for which this server consumed most in the last minute, for all clients';

const percent = (share: number) => `${formatNumber(100 * share)}%`;

/** None if the server does not answer or does not show them. */
async function fetchHotKeys(): Promise<readonly HotKey[]> {
  const answer = await fetch('/hot-keys', { headers: SERVER.headers }).catch(() => undefined);
  return answer?.ok === true ? ((await answer.json()) as { readonly keys: readonly HotKey[] }).keys : [];
}

/** The rates of a key that do not round to 0. */
function ratesOf({ readUnits, writeUnits }: HotKey): string {
  const rates = Object.entries({ read: readUnits, write: writeUnits }).filter(
    ([, units]) => formatNumber(units) !== '0',
  );
  return rates.map(([kind, units]) => `${formatNumber(units)} ${kind} units/s`).join(', ');
}

function rowOf(hot: HotKey): HTMLLIElement {
  const { key, names, share } = hot;
  const bar = element('i', { 'aria-hidden': 'true' });
  // Set by script, because the page's content security policy forbids style attributes.
  bar.style.width = `${100 * share}%`;
  return element(
    'li',
    { tabindex: '0', title: key },
    bar,
    element('span', {}, names),
    element('small', {}, [percent(share), ratesOf(hot)].filter(Boolean).join(', ')),
  );
}

/**
 * The partition keys for which the server consumes most, for all its clients; asked for every ten seconds while shown. The
 * area of a hovered or focused key is drawn on the map.
 */
export function createHotKeyList(map: MapLibre, color: () => string): HotKeyList {
  const hottest = element('span');
  const list = element('ul');
  const details = element(
    'details',
    { class: 'hot', title: TITLE },
    element('summary', {}, 'Hot keys ', hottest),
    list,
  );
  details.hidden = true;
  let polling: ReturnType<typeof setInterval> | undefined;

  function removeArea(): void {
    if (map.getLayer(AREA)) map.removeLayer(AREA);
    if (map.getSource(AREA)) map.removeSource(AREA);
  }

  function drawArea(bounds: Bounds | null): void {
    removeArea();
    if (!bounds) return;
    const geometry = { type: 'LineString' as const, coordinates: ringOf(bounds) };
    map.addSource(AREA, { type: 'geojson', data: { type: 'Feature', geometry, properties: {} } });
    map.addLayer({ id: AREA, source: AREA, type: 'line', paint: { 'line-color': color(), 'line-width': 3 } });
  }

  function show(keys: readonly HotKey[]): void {
    const [first] = keys;
    details.hidden = first === undefined;
    hottest.textContent = first ? `${percent(first.share)} ${first.names}` : '';
    const rows = keys.slice(0, SHOWN).map((key) => {
      const row = rowOf(key);
      for (const event of ['mouseenter', 'focus']) row.addEventListener(event, () => drawArea(key.bounds));
      for (const event of ['mouseleave', 'blur']) row.addEventListener(event, removeArea);
      return row;
    });
    // A row in use would lose the focus or its area.
    if (!list.matches(':hover, :focus-within')) list.replaceChildren(...rows);
  }

  const poll = async () => show(await fetchHotKeys());

  return {
    element: details,
    setVisible(on) {
      clearInterval(polling);
      if (!on) return removeArea();
      void poll();
      polling = setInterval(() => void poll(), EVERY_MS);
    },
  };
}
