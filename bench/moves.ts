import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEngine } from '../src/engine/start.js';
import type { Point } from '../src/geo/bounds.js';
import { createCollection } from '../src/store/collection/collections.js';
import { createDatabase } from '../src/store/create-database.js';
import { newCall, type Database } from '../src/store/database.js';
import { newMarkerItem } from '../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../src/store/marker/markers.js';
import { randomFrom } from '../test/support/random.js';
import { ask } from './fleet/requests.js';
import { Servers } from './fleet/servers.js';
import { viewOf } from './rig/places.js';
import { pointsAroundCities } from './rig/points.js';
import { mean, quantile, shown } from './rig/statistics.js';
import type { Benchmark, Section } from './section.js';

const VEHICLES = 10_000;
const SEED = 20_261_128;
/** CELLPORT_SECONDS changes them. */
const SECONDS = Number(process.env['CELLPORT_SECONDS'] ?? 60);
const MOVES_A_SECOND = 1_500;
/** Vehicles of one write, as in BatchWriteItem. */
const TOGETHER = 150;
const CLIENTS = 4;
const CLIENT_MS = 250;
const SETTLES_WITHIN_MS = 120_000;
const RESTS_WITHIN_MS = 5_000;
const OLDEST_MS = 2_000;

const MAP = `query ($bounds: BoundsInput!, $zoom: Float!) { viewport(bounds: $bounds, zoom: $zoom) {
  markers(collection: "vehicles", first: 1000) { nodes { key position { lng lat } } } } }`;

interface Answer {
  readonly viewport: {
    readonly markers: { readonly nodes: readonly { readonly key: string; readonly position: Point }[] };
  };
}

/** A position of a vehicle, and when it was replaced. */
interface Was {
  readonly shown: string;
  replacedAt: number;
}

const textOf = ({ lng, lat }: Point) => `${lng} ${lat}`;

/** Vehicles that move, written like by their own service: directly into the table. */
class Moving {
  readonly #random = randomFrom(SEED);
  readonly #database: Database;
  readonly at: Point[];
  readonly #was: Was[][];
  readonly #versions: number[];
  /** Incarnations: moving does not create vehicles again. */
  readonly #lives = new Map<number, unknown>();
  moves = 0;

  constructor(database: Database) {
    this.#database = database;
    this.at = Array.from(pointsAroundCities(VEHICLES, SEED), ({ position }) => position);
    this.#was = this.at.map((position) => [{ shown: textOf(position), replacedAt: Infinity }]);
    this.#versions = this.at.map(() => 0);
  }

  /** Moves vehicles until it is aborted, at most so many a second. */
  async move(collection: Parameters<typeof newMarkerItem>[1], perSecond: number, signal: AbortSignal): Promise<void> {
    const began = performance.now();
    for (let sent = 0; !signal.aborted; sent += TOGETHER) {
      const chosen = Array.from({ length: TOGETHER }, (_, n) => (sent + n) % VEHICLES);
      await this.write(collection, chosen);
      const early = (1_000 * (sent + TOGETHER)) / perSecond - (performance.now() - began);
      if (early > 0) await sleep(early);
    }
  }

  async write(collection: Parameters<typeof newMarkerItem>[1], chosen: readonly number[]): Promise<void> {
    const now = new Date().toISOString();
    const moved = chosen.map((index) => {
      const { lng, lat } = this.at[index] ?? { lng: 0, lat: 0 };
      const position = { lng: Number((lng + 0.0002 * (this.#random() - 0.5)).toFixed(6)), lat: Number(lat.toFixed(6)) };
      const version = (this.#versions[index] = (this.#versions[index] ?? 0) + 1);
      return { index, position, version };
    });
    const items = moved.map(({ index, position, version }) => {
      const item = newMarkerItem(this.#database, collection, { key: `v${index}`, position }, now);
      const life = this.#lives.get(index) ?? item['life'];
      this.#lives.set(index, life);
      return { ...item, mv: version, life };
    });
    await putMarkersInBulk(newCall(this.#database), items);
    const at = Date.now();
    for (const { index, position } of moved) {
      this.at[index] = position;
      const was = this.#was[index] ?? [];
      for (const one of was) one.replacedAt = Math.min(one.replacedAt, at);
      was.push({ shown: textOf(position), replacedAt: Infinity });
    }
    this.moves += moved.length;
  }

  /** How old what a map shows was when it was requested, in ms; 0 if it was not replaced by then. */
  ages({ viewport }: Answer, requestedAt: number): number[] {
    return viewport.markers.nodes.map(({ key, position }) => {
      const text = textOf(position);
      const shown = this.#was[Number(key.slice(1))]?.findLast((one) => one.shown === text);
      return Math.max(0, requestedAt - (shown?.replacedAt ?? -Infinity));
    });
  }
}

interface Seen {
  readonly ages: number[];
  readonly ms: number[];
  readonly units: number[];
  readonly fromPages: boolean[];
}

/** Asks the servers in turn for maps around random vehicles until it is aborted. */
async function look(servers: Servers, moving: Moving, client: number, seen: Seen, signal: AbortSignal): Promise<void> {
  const random = randomFrom(SEED + client);
  for (let n = client; !signal.aborted; n += 1) {
    const { lng, lat } = moving.at[Math.floor(random() * VEHICLES)] ?? { lng: 0, lat: 0 };
    const { bounds, zoom } = viewOf('', lng, lat, 7 + Math.floor(random() * 6));
    const [began, requestedAt] = [performance.now(), Date.now()];
    const { data, cost } = await ask<Answer>(servers.url(n), MAP, { bounds, zoom });
    seen.ms.push(performance.now() - began);
    seen.units.push(cost.readUnits);
    seen.fromPages.push(cost.markersFrom === 'PAGES');
    seen.ages.push(Math.max(0, ...moving.ages(data, requestedAt)));
    await sleep(Math.max(0, CLIENT_MS - (performance.now() - began)));
  }
}

async function watch(servers: Servers, moving: Moving, seconds: number): Promise<Seen> {
  const seen: Seen = { ages: [], ms: [], units: [], fromPages: [] };
  const end = AbortSignal.timeout(seconds * 1_000);
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => look(servers, moving, client, seen, end)));
  return seen;
}

/** Maps of two servers while a fleet of vehicles moves. */
export const moves: Benchmark = {
  name: 'moves',
  hasCounts: false,
  async run({ say }): Promise<Section> {
    execFileSync(process.execPath, ['scripts/build.mjs', '--compress-quickly'], { stdio: 'ignore' });
    const engine = await startEngine({ dataDir: null });
    const tables = { entities: 'cellport', derived: 'cellport-derived' };
    const database = createDatabase({ ...engine, tables, keyStyle: 'readable' });
    const servers = await Servers.start(engine, 2, { CELLPORT_LOG: 'silent' });
    try {
      const key = { key: 'vehicles', name: 'Vehicles', geoIndex: process.env['CELLPORT_GEO_INDEX'] === '1' };
      const collection = await createCollection(newCall(database), key, new Date().toISOString());
      const moving = new Moving(database);
      for (let at = 0; at < VEHICLES; at += TOGETHER)
        await moving.write(
          collection,
          Array.from({ length: Math.min(TOGETHER, VEHICLES - at) }, (_, n) => at + n),
        );
      await settled(servers);
      // Until the consumer rests, this is a first load, whose batches wait longer.
      await sleep(RESTS_WITHIN_MS);
      say('a quiet table');
      const quiet = await watch(servers, moving, Math.min(10, SECONDS));
      say(`${MOVES_A_SECOND} moves a second`);
      const stop = new AbortController();
      const before = moving.moves;
      const began = performance.now();
      const writing = moving.move(collection, MOVES_A_SECOND, stop.signal);
      const busy = await watch(servers, moving, SECONDS);
      const rate = (1_000 * (moving.moves - before)) / (performance.now() - began);
      stop.abort();
      await writing;
      const share = (100 * busy.fromPages.filter(Boolean).length) / busy.fromPages.length;
      const isFresh = quantile(busy.ages, 0.99) <= OLDEST_MS;
      return {
        title: `Maps while ${VEHICLES.toLocaleString('en')} vehicles move`,
        rows: [
          {
            what: 'maps read from pages while vehicles move around the world, two servers',
            bar: 'all',
            measured: `${shown(share)}% of ${busy.ms.length}`,
            against: `${shown(rate, 0)} moves a second`,
            holds: share === 100,
          },
          {
            what: 'age of what they show, s (p50, p99, most)',
            bar: 'p99 at most 2',
            measured: [0.5, 0.99, 1].map((at) => shown(quantile(busy.ages, at) / 1_000, 2)).join(', '),
            against: '',
            holds: isFresh,
          },
          {
            what: 'read units of a map, over those of the quiet table',
            bar: 'at most 1.5',
            measured: shown(mean(busy.units) / mean(quiet.units), 2),
            against: `${shown(mean(busy.units))} and ${shown(mean(quiet.units))}`,
            holds: mean(busy.units) <= 1.5 * mean(quiet.units),
          },
          {
            what: 'ms of a map (p50, p99)',
            bar: '',
            measured: [0.5, 0.99].map((at) => shown(quantile(busy.ms, at), 0)).join(', '),
            against: `quiet: ${[0.5, 0.99].map((at) => shown(quantile(quiet.ms, at), 0)).join(', ')}`,
          },
        ],
        text: '',
      };
    } finally {
      await servers.stop();
      database.client.destroy();
      await engine.close();
    }
  },
};

/** Waits until all vehicles are counted. */
async function settled(servers: Servers): Promise<void> {
  const end = Date.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const query = '{ collection(key: "vehicles") { count } }';
    const { data } = await ask<{ collection: { count: number } }>(servers.url(0), query, {});
    if (data.collection.count === VEHICLES) return;
    if (Date.now() > end) throw new Error(`${data.collection.count} of ${VEHICLES} vehicles are counted`);
    await sleep(500);
  }
}
