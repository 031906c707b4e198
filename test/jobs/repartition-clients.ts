import { deepStrictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Bounds, Point } from '../../src/geo/bounds.js';
import { CollectionCache } from '../../src/loaders/collection-cache.js';
import { drawnProperties, markerFeatureText } from '../../src/map/features.js';
import { viewportMarkers } from '../../src/map/markers.js';
import { readViewport } from '../../src/map/viewport.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { pickProperties, type MapMarker, type Properties } from '../../src/model/marker.js';
import { OWN_WRITES_MARGIN_MS, ownWrite } from '../../src/read/from-pages/own-writes.js';
import { Loaders } from '../../src/read/loaders.js';
import { createServices } from '../../src/server/services.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall, type Database } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker, createMarkers } from '../../src/store/marker/markers.js';
import { upsertMarkers } from '../../src/store/marker/upsert.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import type { ConditionalChange } from '../../src/store/request/conditional-write.js';
import type { ConsumerStatus } from '../../src/stream/consume/consumer.js';
import { bruteInside, NOW } from '../map/fixture.js';
import { testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';

const positionAt = (random: () => number): Point =>
  // Half of them in a small area, so that partitions have many.
  random() < 0.5
    ? { lng: 10 + random() * 10, lat: 48 + random() * 6 }
    : { lng: random() * 360 - 180, lat: random() * 180 - 90 };

/** Properties of which the index has all if they are few, and otherwise those that the map draws. */
function propertiesAt(random: () => number): Properties {
  const some = ['a', 'b', 'c', 'd'].filter(() => random() < 0.8);
  const values = some.map((name) => [name, Math.floor(random() * 10)]);
  return { ...Object.fromEntries(values), text: 'x'.repeat(random() < 0.8 ? 260 : 10) };
}

/** A collection as of its last write. */
export async function currentCollection(db: Database, key: string): Promise<Collection> {
  const [collection] = await getCollections(newCall(db), [key], { consistent: true });
  if (!collection) throw new Error(`there is no collection ${key}`);
  return collection;
}

/** A job mostly waits: clients that never pause would take both cores meanwhile. */
const PAUSE_MS = 20;

/** A marker as it must be found. */
interface Expected {
  readonly position: Point;
  readonly properties: Properties;
}

export const markerAt = (random: () => number): Expected => ({
  position: positionAt(random),
  properties: propertiesAt(random),
});

/**
 * Clients that read and write a collection. Each knows it as it was when the client last read it, which may be long
 * ago, but is never before the last `settle` that was completed: servers with the oldest knowledge that a job allows.
 */
export class Fleet {
  readonly #db: Database;
  readonly #key: string;
  readonly #steady: ReadonlyMap<string, Expected>;
  readonly #status: () => ConsumerStatus;
  #asked = 0;
  /** The last request to read the collection that each client has followed. */
  readonly #followed: number[] = [];
  readonly #running: Promise<void>[] = [];
  #stopping = false;
  /** Viewports compared, by what markers were read from. */
  readonly compared = { INDEX: 0, PAGES: 0 };

  /** `steady` are markers that nobody changes. */
  constructor(db: Database, key: string, steady: ReadonlyMap<string, Expected>, status: () => ConsumerStatus) {
    this.#db = db;
    this.#key = key;
    this.#steady = steady;
    this.#status = status;
  }

  /** Pages include what was written before, and no client shows own writes that are older. */
  #settledAt = 0;

  /**
   * Resolves once every client has read the collection since the call, and pages include what was written before: a job
   * waits for longer than pages may be behind, and than servers show their own writes instead.
   */
  async settle(): Promise<void> {
    const mine = (this.#asked += 1);
    const began = Date.now();
    const isDue = () => this.#followed.some((followed) => followed < mine) || (this.#status().endAt ?? 0) < began;
    while (!this.#stopping && isDue()) await sleep(10);
    this.#settledAt = began;
  }

  start(seed: number): void {
    const client = this.#followed.push(0) - 1;
    const running = this.#run(client, randomFrom(seed));
    running.catch(() => (this.#stopping = true));
    this.#running.push(running);
  }

  /** Ends all clients; rejects if one found a difference. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  async #run(client: number, random: () => number): Promise<void> {
    const db = this.#db;
    const services = createServices(db, { consumerStatus: this.#status, cacheBytes: 0 });
    const model = new Map<string, Expected>();
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    let collection = await currentCollection(this.#db, this.#key);
    const written = (...changes: readonly ConditionalChange[]) =>
      services.pageServices.ownWrites.add(
        this.#key,
        changes.flatMap((change) => ownWrite(db.keys, collection, change) ?? []),
      );
    for (let counter = 0; !this.#stopping; await sleep(PAUSE_MS)) {
      const asked = this.#asked;
      if ((this.#followed[client] ?? 0) < asked || random() < 0.01) {
        collection = await currentCollection(this.#db, this.#key);
        this.#followed[client] = asked;
      }
      const chance = random();
      const { position, properties } = markerAt(random);
      const key = model.size > 0 ? pick([...model.keys()]) : undefined;
      if (chance < 0.15 || key === undefined) {
        const inputs = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
          key: `${client}-${(counter += 1)}`,
          ...markerAt(random),
        }));
        if (inputs.length === 1) written(await createMarker(newCall(db), collection, inputs[0]!, NOW));
        else written(...(await createMarkers(newCall(db), collection, inputs, NOW)).written);
        for (const { key: made, ...input } of inputs) model.set(made, input);
      } else if (chance < 0.3) {
        const update = random() < 0.5 ? { position } : { properties };
        written(await updateMarker(newCall(db), { collection, key }, update, { now: NOW }));
        model.set(key, { ...model.get(key)!, ...update });
      } else if (chance < 0.4) {
        written(...(await upsertMarkers(newCall(db), collection, [{ key, position, properties }], NOW)).written);
        model.set(key, { position, properties });
      } else if (chance < 0.45) {
        written(await updateMarker(newCall(db), { collection, key }, { name: `n${chance}` }, { now: NOW }));
      } else if (chance < 0.5) {
        written(await deleteMarker(newCall(db), { collection, key }, { now: NOW }));
        model.delete(key);
      } else await this.#compare(services, collection, client, model, random);
    }
    // Even a client without any change reads everything once more.
    await this.#compare(services, await currentCollection(this.#db, this.#key), client, model, random);
  }

  /** Reads a viewport and compares its markers, each with how often it was found, with those of the model. */
  async #compare(
    services: ReturnType<typeof createServices>,
    collection: Collection,
    client: number,
    model: ReadonlyMap<string, Expected>,
    random: () => number,
  ): Promise<void> {
    const [lng, lat] = [random() * 340 - 170, random() * 160 - 80];
    const size = random();
    const bounds: Bounds =
      size < 0.3
        ? { west: -180, south: -90, east: 180, north: 90 }
        : size < 0.6
          ? { west: 11 + random() * 4, south: 49, east: 15 + random() * 4, north: 50 + random() * 3 }
          : { west: lng, south: lat, east: lng + random() * 60, north: Math.min(90, lat + random() * 40) };
    services.pageServices.ownWrites.of(this.#key, this.#settledAt + OWN_WRITES_MARGIN_MS);
    const call = newCall(this.#db);
    const collectionCache = new CollectionCache({ now: () => 0 });
    collectionCache.set(this.#key, collection);
    // By pages where they may be read, or by the index.
    const trust = random() < 0.5 ? services.trust : testPages({ trusted: false }).trust;
    const loaders = new Loaders({ ...services, trust, collectionCache }, call);
    const limits = { ...DEFAULT_LIMITS, queryCalls: 100_000 };
    const context = {
      loaders,
      keys: this.#db.keys,
      limits,
      turn: this.#db.scheduler.takeTurn,
      scheduler: this.#db.scheduler,
    };
    const viewport = readViewport({ bounds, zoom: 8 });
    const least = random() < 0.5 ? undefined : { name: random() < 0.5 ? 'a' : 'b', gte: 5 };
    const filter = least && { properties: [least] };
    const feature = (marker: MapMarker) => markerFeatureText(marker, drawnProperties(marker, collection.mapProperties));
    const found: [string, Properties][] = [];
    for (let after: string | null = null; ;) {
      const input = { first: random() < 0.5 ? 40 : 4_000, after };
      const page = await viewportMarkers(context, viewport, this.#key, input, filter);
      for (const { node } of page.edges) {
        const { properties } = JSON.parse(feature(node)) as { properties: Properties };
        found.push([node.key, pickProperties(properties, ['a', 'b', 'c', 'd'])]);
      }
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    const isKnown = ([key]: readonly [string, unknown]) => key.startsWith(`${client}-`) || this.#steady.has(key);
    const expected = [...this.#steady, ...model].filter(
      ([, { position, properties }]) =>
        bruteInside(bounds, position) && (least === undefined || Number(properties[least.name]) >= least.gte),
    );
    const { prefixLength, writeShards, geoSlot, mapProperties, layoutChange } = collection;
    const drawn = ({ properties }: Expected) =>
      pickProperties(properties, String(properties['text']).length < 200 ? ['a', 'b', 'c', 'd'] : mapProperties);
    const { markersFrom } = call.meter;
    const layout = JSON.stringify({ prefixLength, writeShards, mapProperties, geoSlot, layoutChange, markersFrom });
    const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]) => (a[0] < b[0] ? -1 : 1);
    deepStrictEqual(
      { layout, found: found.filter(isKnown).toSorted(byKey) },
      { layout, found: expected.map(([key, one]) => [key, drawn(one)] as const).toSorted(byKey) },
    );
    if (call.meter.markersFrom === 'PAGES' || call.meter.markersFrom === 'INDEX') {
      this.compared[call.meter.markersFrom] += 1;
    }
  }
}
