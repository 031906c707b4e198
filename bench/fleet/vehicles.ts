import { setTimeout as sleep } from 'node:timers/promises';

import { areaContains, normalizeBounds, type Point } from '../../src/geo/bounds.js';
import { randomFrom } from '../../test/support/random.js';
import { viewOf } from '../rig/places.js';
import { ask, balanced, type Seen } from './requests.js';
import type { Servers } from './servers.js';

const VEHICLES = 500;
/** Time between two writes. */
const WRITE_MS = 200;
/** One write in this many is looked for on every server. */
const WATCH_EVERY = 5;
const LOOK_MS = 25;
const LOOK_UNTIL_MS = 15_000;

const KEYS = `query ($bounds: BoundsInput!) {
  viewport(bounds: $bounds, zoom: 12) {
    count(collection: "vehicles")
    markers(collection: "vehicles", first: 1000) { nodes { key } }
  }
}`;
const LOOK = `query ($bounds: BoundsInput!) {
  viewport(bounds: $bounds, zoom: 12) { markers(collection: "vehicles", first: 10) { nodes { key } } }
}`;
const PUT = `mutation ($markers: [MarkerInput!]!) {
  upsertMarkers(collection: "vehicles", markers: $markers) { created }
}`;
const NEW_COLLECTION = `mutation { createCollection(input: { key: "vehicles", name: "Vehicles" }) { key } }`;

interface Viewport {
  readonly viewport: {
    readonly count: number;
    readonly markers: { readonly nodes: readonly { readonly key: string }[] };
  };
}

/** Vehicles of one city, and where they were moved to last. */
export class Vehicles {
  readonly #random = randomFrom(20_261_124);
  readonly #at = new Map<string, Point>();
  /** Those of a failed write, which may have been made. */
  readonly #unsure = new Set<string>();

  static async create(url: string | undefined): Promise<Vehicles> {
    const vehicles = new Vehicles();
    await ask(url, NEW_COLLECTION, {});
    for (let n = 0; n < VEHICLES; n++) vehicles.#at.set(`v${n}`, vehicles.#somewhere());
    await ask(url, PUT, { markers: [...vehicles.#at].map(([key, position]) => ({ key, position })) });
    return vehicles;
  }

  #somewhere(): Point {
    return { lng: -0.3 + this.#random() * 0.4, lat: 51.4 + this.#random() * 0.2 };
  }

  /** Moves vehicles until it is aborted, and looks for some of the moves on every server. */
  async move(servers: Servers, seen: Seen, signal: AbortSignal): Promise<void> {
    const looking: Promise<void>[] = [];
    for (let n = 0; !signal.aborted; n++) {
      const key = `v${Math.floor(this.#random() * VEHICLES)}`;
      const position = this.#somewhere();
      this.#at.set(key, position);
      try {
        const { by } = await balanced(servers, seen, n, PUT, { markers: [{ key, position }] });
        if (n % WATCH_EVERY === 0) looking.push(this.#look(servers, seen, { key, position, by }));
      } catch (error) {
        this.#unsure.add(key);
        seen.failed.push(String(error));
      }
      await sleep(WRITE_MS);
    }
    await Promise.all(looking);
  }

  async #look(
    servers: Servers,
    seen: Seen,
    { key, position, by }: { readonly key: string; readonly position: Point; readonly by: number },
  ): Promise<void> {
    const { lng, lat } = position;
    const bounds = { west: lng - 1e-7, east: lng + 1e-7, south: lat - 1e-7, north: lat + 1e-7 };
    const begun = performance.now();
    await Promise.all(
      Array.from({ length: servers.count }, async (_, n) => {
        const url = servers.url(n);
        while (url !== undefined && url === servers.url(n) && performance.now() - begun < LOOK_UNTIL_MS) {
          const found = await ask<Viewport>(url, LOOK, { bounds }).catch(() => undefined);
          if (found?.data.viewport.markers.nodes.some((node) => node.key === key)) {
            (n === by ? seen.own : seen.other).push(performance.now() - begun);
            return;
          }
          await sleep(LOOK_MS);
        }
        // Not found for so long, unless the server was down or killed, or the vehicle has moved on.
        if (url !== undefined && url === servers.url(n) && this.#at.get(key) === position)
          (n === by ? seen.own : seen.other).push(LOOK_UNTIL_MS);
      }),
    );
  }

  /** Repeats the writes that failed. */
  async settle(url: string | undefined): Promise<void> {
    const markers = [...this.#unsure].map((key) => ({ key, position: this.#at.get(key) }));
    if (markers.length > 0) await ask(url, PUT, { markers });
    this.#unsure.clear();
  }

  /** What a server answers about the vehicles that is not so, once writers have rested; undefined if all is right. */
  async differs(url: string | undefined, withinMs: number): Promise<string | undefined> {
    const begun = performance.now();
    for (;;) {
      const wrong = await this.#difference(url).catch(String);
      if (wrong === undefined || performance.now() - begun > withinMs) return wrong;
      await sleep(LOOK_MS);
    }
  }

  async #difference(url: string | undefined): Promise<string | undefined> {
    const random = randomFrom(7);
    for (let n = 0; n < 10; n++) {
      const { lng, lat } = { lng: -0.3 + random() * 0.4, lat: 51.4 + random() * 0.2 };
      const { bounds } = viewOf('', lng, lat, 10 + 0.4 * n);
      const area = normalizeBounds('bounds', bounds);
      const keys = [...this.#at].flatMap(([key, position]) => (areaContains(area, position) ? [key] : []));
      const { data } = await ask<Viewport>(url, KEYS, { bounds });
      const { count, markers } = data.viewport;
      const found = markers.nodes.map(({ key }) => key);
      if (count !== keys.length) return `count ${count} instead of ${keys.length}`;
      if (found.toSorted().join() !== keys.toSorted().join())
        return `${found.length} markers instead of ${keys.length}`;
    }
    return undefined;
  }
}
