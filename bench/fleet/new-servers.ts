import { setTimeout as sleep } from 'node:timers/promises';

import { GraphqlServer } from '../../src/graphql/server.js';
import { silentLog } from '../../src/log.js';
import { startConsumer, storedReport } from '../../src/server/consumer.js';
import { createServices } from '../../src/server/services.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { createDatabase } from '../../src/store/create-database.js';
import { newCall, type Database } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { randomFrom } from '../../test/support/random.js';
import { openFreshTables, type FreshTables } from '../rig/fresh-tables.js';
import { requests } from '../rig/measure-views.js';
import { viewOf, viewsAbout, type View } from '../rig/places.js';
import { cityMarkers, type BenchMarker } from '../rig/points.js';
import { startRig } from '../rig/rig.js';
import { shown } from '../rig/statistics.js';
import { watchWire, type Wire } from '../rig/wire.js';
import type { Row } from '../section.js';

const SEED = 20_261_124;
const MAPS = 60;
const WITHIN = 0.05;
const MOST_ROUND_TRIPS = 4;
const IN_STREET = 20_000;
const STREET: View = viewOf('street', 16.92, 52.41, 17);
const MAP = `query ($bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) { markers(collection: "cities", first: 2000) { nodes { key } } }
}`;
const CELLS = `query ($bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) {
    six: cells(collection: "street", precision: 6) { count }
    seven: cells(collection: "street", precision: 7) { count }
    eight: cells(collection: "street", precision: 8) { count }
    clusters(collection: "street") { count }
  }
}`;

/** Tracks the longest chain of requests in which each began after the previous one had ended. */
function watchChains({ client }: Database): { longest: number } {
  const chain = { longest: 0 };
  client.middlewareStack.add(
    (next) => async (args) => {
      const length = chain.longest + 1;
      const answer = await next(args);
      chain.longest = Math.max(chain.longest, length);
      return answer;
    },
    { step: 'initialize', name: 'watch-chains', priority: 'low' },
  );
  return chain;
}

/** A new server with empty caches, which does not maintain pages. */
async function newServer(
  { options }: FreshTables,
  owner?: () => ReturnType<ReturnType<typeof startConsumer>['status']>,
) {
  const database = createDatabase(options);
  const { wire } = watchWire(database);
  const chain = watchChains(database);
  const consumerStatus = owner ?? (() => undefined);
  const services = createServices(database, {
    cacheBytes: 0,
    consumerStatus,
    storedReport: () => storedReport(database),
  });
  const server = await GraphqlServer.open(services, silentLog);
  const draw = async ({ bounds, zoom }: View) => {
    const body = { query: MAP, variables: { bounds, zoom } };
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, search: '', body };
    const answer = String((await server.answer(request, new AbortController().signal)).body);
    if (answer.includes('"errors"')) throw new Error(answer);
  };
  const close = async () => {
    await server.stop();
    database.client.destroy();
  };
  return { wire, chain, draw, close };
}

/**
 * The same maps on new servers, the first of which maintains the pages; and the chain of requests for the first map.
 */
async function newServers(views: readonly View[], cities: readonly BenchMarker[], say: (line: string) => void) {
  const tables = await openFreshTables({ table: 'bench-fleet' });
  const { database, engine } = tables;
  const cells = startConsumer({ database, streams: createStreamsClient(engine) }, silentLog);
  try {
    const now = new Date().toISOString();
    const input = { key: 'cities', name: 'Cities', mapProperties: ['population'] };
    const collection = await createCollection(newCall(database), input, now);
    const items = cities.map((city) => newMarkerItem(database, collection, city, now));
    await putMarkersInBulk({ ...newCall(database), unpriced: true }, items);
    await cells.caughtUp(new AbortController().signal);
    // Other servers hear of it within a second.
    await sleep(2_000);
    say(`${MAPS} maps on three servers`);
    const wires: Wire[] = [];
    const chains: number[] = [];
    for (const isOwner of [true, false, false]) {
      const server = await newServer(tables, isOwner ? () => cells.status() : undefined);
      for (const view of views) {
        await server.draw(view);
        if (view === views[0]) chains.push(server.chain.longest);
      }
      wires.push({ ...server.wire });
      await server.close();
    }
    return { wires, chains };
  } finally {
    await cells.stop();
    await tables.close();
  }
}

/** Cells and clusters of a map with very many markers; undefined if they are refused. */
async function street(): Promise<{ readonly right: boolean } | undefined> {
  const rig = await startRig();
  try {
    const random = randomFrom(SEED);
    const { west, east, south, north } = STREET.bounds;
    const markers = Array.from({ length: IN_STREET }, (_, n): BenchMarker => {
      const position = { lng: west + random() * (east - west), lat: south + random() * (north - south) };
      return { key: `${n}`, position };
    });
    await rig.fill('street', markers);
    type Counts = readonly { readonly count: number }[];
    type Answer = { readonly viewport: Readonly<Record<'six' | 'seven' | 'eight' | 'clusters', Counts>> };
    const { bounds, zoom } = STREET;
    const { viewport } = await rig.ask<Answer>(CELLS, { bounds, zoom });
    const sums = Object.values(viewport).map((counts) => counts.reduce((sum, { count }) => sum + count, 0));
    return { right: sums.every((sum) => sum === IN_STREET) };
  } catch (error) {
    if (error instanceof Error && error.cause === 'LIMIT_EXCEEDED') return undefined;
    throw error;
  } finally {
    await rig.close();
  }
}

/** The cost of new servers on the same tables, without Redis. */
export async function newServerRows(say: (line: string) => void): Promise<Row[]> {
  say('a street');
  const found = await street();
  say('loading the cities');
  const cities = cityMarkers().filter(({ properties }) => Number(properties?.['population']) >= 5_000);
  const { wires, chains } = await newServers(viewsAbout(cities, MAPS, SEED), cities, say);
  const [owner, ...others] = wires;
  const row = (what: string, of: (wire: Wire) => number): Row => {
    const base = owner ? of(owner) : 0;
    return {
      what: `${what} of ${MAPS} maps on two new servers`,
      bar: `the owner's, within ${100 * WITHIN}%`,
      measured: others.map((wire) => shown(of(wire))).join(', '),
      against: shown(base),
      holds: others.every((wire) => of(wire) <= (1 + WITHIN) * base),
    };
  };
  return [
    row('read units', ({ readUnits }) => readUnits),
    row('requests', requests),
    {
      what: 'successive round trips of their first maps',
      bar: `at most ${MOST_ROUND_TRIPS}`,
      measured: chains.join(', '),
      against: '',
      holds: chains.every((length) => length <= MOST_ROUND_TRIPS),
    },
    {
      what: `cells of length 6 to 8 and clusters with ${IN_STREET.toLocaleString('en')} markers in view`,
      bar: 'right',
      measured: found ? (found.right ? 'right' : 'wrong') : 'refused',
      against: '',
      holds: found?.right === true,
    },
  ];
}
