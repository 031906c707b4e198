import { setTimeout as sleep } from 'node:timers/promises';

import { areaContains, normalizeBounds } from '../../src/geo/bounds.js';
import type { BenchMarker } from '../rig/points.js';
import { walker } from '../rig/walker.js';
import { balanced, type Seen } from './requests.js';
import type { Servers } from './servers.js';

/** Time between the requests of one client. */
const CLIENT_MS = 200;

const MAP = `query ($bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) {
    count(collection: "cities")
    auto(collection: "cities", limit: 300) { mode markers { id } clusters { count } }
  }
}`;

/** A client that pans until it is aborted; each count is compared with a linear scan. */
export async function pan(
  servers: Servers,
  seen: Seen,
  cities: readonly BenchMarker[],
  { client, sticky, signal }: { readonly client: number; readonly sticky: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const next = walker(cities, client);
  for (let n = 0; !signal.aborted; n++) {
    const { bounds, zoom } = next();
    const begun = performance.now();
    try {
      const to = sticky ? client : client + n;
      const { data, cost, by } = await balanced<{ viewport: { count: number } }>(servers, seen, to, MAP, {
        bounds,
        zoom,
      });
      seen.ms.push(performance.now() - begun);
      (seen.costs[by] ??= []).push(cost);
      const area = normalizeBounds('bounds', bounds);
      const right = cities.filter(({ position }) => areaContains(area, position)).length;
      if (data.viewport.count !== right)
        seen.wrongCounts.push(`${data.viewport.count} instead of ${right} in ${JSON.stringify(bounds)}`);
    } catch (error) {
      seen.failed.push(String(error));
    }
    await sleep(Math.max(0, CLIENT_MS - (performance.now() - begun)));
  }
}
