import { formatNumber } from './numbers.js';
import type { Status } from './status.js';

/** The part of /readyz about loading the demo. */
interface Readiness {
  readonly load: {
    readonly state: 'loading' | 'complete' | 'failed';
    readonly cities: number;
    readonly of: number | null;
    readonly counted: boolean;
    readonly reason: string | null;
  } | null;
}

const EVERY_MS = 3_000;

function textOf({ state, cities, of, counted, reason }: NonNullable<Readiness['load']>): string {
  if (state === 'failed') return `Could not load the demo: ${reason}`;
  if (of === null || cities < of)
    return `Loading the cities: ${formatNumber(cities)}${of === null ? '' : ` of ${formatNumber(of)}`}`;
  if (state === 'complete') return `All ${formatNumber(of)} cities are on the map`;
  return counted ? 'All cities are on the map. Loading the countries' : 'Counting the last cities';
}

/** If the server is loading the demo, shows its progress and calls `refresh` after each step. */
export async function followLoad(status: Status, refresh: () => void): Promise<void> {
  for (let last = ''; ;) {
    const load = await fetch('/readyz')
      .then(async (response) => ((await response.json()) as Readiness).load)
      .catch(() => undefined);
    if (load === null) return;
    if (load !== undefined) {
      const text = textOf(load);
      const known = last === '' && load.state === 'complete';
      if (!known) status.show(text);
      if (text !== last && !known) refresh();
      if (load.state !== 'loading') return;
      last = text;
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
