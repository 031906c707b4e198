import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { post } from '../http/load.js';
import type { BenchMarker } from '../rig/points.js';
import { mean, quantile } from '../rig/statistics.js';
import { walker } from '../rig/walker.js';

const SEED = 11;
/** One response in this many reports its cost. */
const COST_EVERY = 10;
export const PARTS = 6;
const QUERY = `query ($bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) {
    auto(collection: "cities", limit: 300) {
      mode total markers { id name category position { lng lat } } clusters { position { lng lat } count }
    }
  }
}`;

interface Cost {
  readonly queries: number;
  readonly readUnits: number;
}

export interface Walks {
  /** Maps answered a second. */
  readonly perSecond: number;
  /** Milliseconds from the first attempt until the map is answered. */
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
  /** Responses of 503 with Retry-After a second, each followed by another attempt after that time. */
  readonly refusedPerSecond: number;
  /** Mean cost of a map in each part of the run. */
  readonly costs: readonly Cost[];
}

interface Answer {
  readonly data?: { readonly viewport?: { readonly auto?: unknown } };
  readonly errors?: unknown;
  readonly extensions?: { readonly cost: Cost };
}

/** Clients that each walk over the cities, and request the next map as soon as they have one. */
export async function walkOver(
  cities: readonly BenchMarker[],
  url: string,
  clients: number,
  seconds: number,
): Promise<Walks> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1_000;
  const costs: Cost[][] = Array.from({ length: PARTS }, () => []);
  const took: number[] = [];
  let failed = 0;
  let refused = 0;

  async function one(client: number): Promise<void> {
    const next = walker(cities, SEED + client);
    for (let sent = 0; elapsed() < seconds; sent++) {
      const { bounds, zoom } = next();
      const body = JSON.stringify({ query: QUERY, variables: { bounds, zoom } });
      const headers = sent % COST_EVERY === 0 ? { 'x-cellport-cost': '1' } : {};
      const from = performance.now();
      let response = await post(agent, `${url}/graphql`, body, headers);
      while (response.status === 503 && response.headers['retry-after'] !== undefined && elapsed() < seconds) {
        refused++;
        await sleep(Number(response.headers['retry-after']) * 1_000);
        response = await post(agent, `${url}/graphql`, body, headers);
      }
      if (elapsed() > seconds) return;
      const { data, errors, extensions } = JSON.parse(response.text.toString()) as Answer;
      if (errors !== undefined || !data?.viewport?.auto) failed++;
      else took.push(performance.now() - from);
      if (extensions) costs[Math.min(PARTS - 1, Math.floor((elapsed() / seconds) * PARTS))]?.push(extensions.cost);
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, client) => one(client)));
  agent.destroy();
  return {
    perSecond: took.length / seconds,
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    failed,
    refusedPerSecond: refused / seconds,
    costs: costs.map((part) => ({
      queries: mean(part.map(({ queries }) => queries)),
      readUnits: mean(part.map(({ readUnits }) => readUnits)),
    })),
  };
}
