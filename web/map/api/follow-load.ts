import type { LoadReadiness as Load } from '../../../src/http/health.js';
import { pathOf } from '../../access/server.js';
import { formatNumber } from '../text/numbers.js';

const EVERY_MS = 3_000;
/** A pace measured over less time says little. */
const PACED_AFTER_MS = 5_000;

/** Returns a function that says how far a load is, with the time left at its pace so far; `at` is in ms. */
export function createLoadText(): (load: Load, at: number) => string {
  let seen: number | undefined;
  let first: { readonly cities: number; readonly at: number } | undefined;

  function timeLeft(cities: number, of: number, at: number): string {
    seen ??= cities;
    // The first cities are counted before the next are written, which is no pace.
    if (cities > seen) first ??= { cities, at };
    if (!first || at - first.at < PACED_AFTER_MS || cities === first.cities) return '';
    const seconds = (((at - first.at) / (cities - first.cities)) * (of - cities)) / 1_000;
    return seconds < 55
      ? `, about ${Math.ceil(seconds / 5) * 5} s left`
      : `, about ${Math.round(seconds / 60)} min left`;
  }

  return ({ state, checked, cities, of, counted, reason }, at) => {
    if (state === 'failed') return `Could not load the demo: ${reason}`;
    if (of === null) return 'Opening the list of cities';
    if (cities === 0 && checked < of) return `Checking the list of cities: ${Math.floor((100 * checked) / of)} %`;
    if (cities === 0) return `Writing the first of ${formatNumber(of)} cities`;
    const left = timeLeft(cities, of, at);
    if (cities < of) return `Loading the cities: ${formatNumber(cities)} of ${formatNumber(of)}${left}`;
    if (state === 'complete') return `All ${formatNumber(of)} cities are on the map`;
    return counted ? 'All cities are on the map. Loading the countries' : 'Counting the last cities';
  };
}

/** If the server is loading the demo, says how far it is and calls `refresh` after each step. */
export async function followLoad(
  say: (text: string) => void,
  refresh: () => void,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const textOf = createLoadText();
  let last = '';
  // Messages disappear, and a busy server takes long to answer.
  const saying = setInterval(() => last !== '' && say(last), EVERY_MS);
  for (;;) {
    const load = await fetch(pathOf('readyz'), { headers })
      .then(async (response) => ((await response.json()) as { readonly load: Load | null }).load)
      .catch(() => undefined);
    if (load === null || (last === '' && load?.state === 'complete')) break;
    if (load !== undefined) {
      const text = textOf(load, performance.now());
      say(text);
      if (text !== last) refresh();
      if (load.state !== 'loading') break;
      last = text;
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  clearInterval(saying);
}
