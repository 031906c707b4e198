import { isDeepStrictEqual } from 'node:util';

import type { CellSums } from '../../../src/geo/cell-sums.js';
import { compareBytes } from '../../../src/keys/byte-order.js';
import type { Key } from '../../../src/keys/document-id.js';
import { createKeyspace } from '../../../src/keys/keyspace.js';
import { awaitRecord } from '../../../src/lambda/stream.js';
import { silentLog } from '../../../src/log.js';
import { orderedMarker, type OrderedMarker } from '../../../src/pages/ordered-marker.js';
import { mapMarkerFromIndex } from '../../../src/store/marker/marker-item.js';
import { itemOfImage } from '../../../src/store/request/wire.js';
import { changeOf, contributionOf } from '../../../src/stream/change.js';
import { Consumer } from '../../../src/stream/consume/consumer.js';
import type { CellsPort } from '../../../src/stream/ports.js';
import { writeReading } from './days-model.js';
import { DerivedModel } from './derived-model.js';
import { PageReader } from './page-reader.js';
import { Process, type Faults, type Ports } from './process.js';
import { wrongCounts } from './reader.js';
import { TableModel } from './table-model.js';
import { World } from './world.js';

/** Plants a bug between the consumer and its tables. */
export type Plant = (ports: Ports, world: World, derived: DerivedModel) => Ports;

/** The result of one seed; it passed if `failures` is empty. */
export interface Outcome {
  readonly failures: readonly string[];
  readonly gap: string | undefined;
  readonly records: number;
  readonly blockWrites: number;
  readonly batches: number;
  /** Pages that a server which does not maintain them had kept when it wanted them. */
  readonly pagesKept: number;
}

const HOUR_MS = 3_600_000;
/** How often a server shows counts. */
const LOOK_EVERY_MS = 900;
const keys = createKeyspace('readable');
const SCOPES = ['parks', 'cafés'];

/** The places of markers: none, places inside others, and one name in two places. */
const HIERARCHY: readonly (readonly string[])[] = [
  [],
  ['Poznań'],
  ['Poznań', 'A'],
  ['Poznań', 'A', '1'],
  ['Poznań', 'A', '12'],
  ['Poznań', 'B', '1'],
  ['Berlin', 'A', '1'],
];

/** Positions that share cells at every level, some of them at critical positions. */
const POSITIONS: readonly (readonly [lng: string, lat: string])[] = [
  ['16.925168', '52.408'],
  ['16.925169', '52.408'],
  ['16.93', '52.41'],
  ['16.99', '52.45'],
  ['17.5', '52.1'],
  ['21.01', '52.23'],
  ['-180', '0'],
  ['180', '0'],
  ['0', '0'],
  ['0', '-90'],
  ['-73.9857', '40.7484'],
];

const POISON: readonly Readonly<Record<string, unknown>>[] = [
  { lng: { S: 'east' }, lat: { N: '1' } },
  { lng: { N: '1' }, lat: { N: '91' } },
  { lat: { N: '1' }, place: { L: [{ S: 'Berlin' }] } },
  { lng: { N: '1E+40' }, lat: { N: '1' } },
];

/** The counts of cells and places computed from the items, with as little code as possible. */
function bruteForce(table: TableModel): Map<string, string> {
  const counts = new Map<string, CellSums>();
  const add = (name: string, more: CellSums) => {
    const { count, sumLng, sumLat } = counts.get(name) ?? { count: 0, sumLng: 0, sumLat: 0 };
    counts.set(name, {
      count: count + more.count,
      sumLng: sumLng + more.sumLng,
      sumLat: sumLat + more.sumLat,
    });
  };
  for (const image of table.items.values()) {
    const change = changeOf(keys, { sequence: '1', event: '', at: 0, keys: image, before: undefined, after: image });
    const marker = change?.scope === undefined ? undefined : contributionOf(image);
    if (marker === undefined || typeof marker === 'string') continue;
    for (let length = 1; length <= marker.cell.length; length += 1) {
      add(`${change?.scope}/${marker.cell.slice(0, length)}`, marker.sums);
    }
    add(`${change?.scope}/$`, { count: marker.bytes, sumLng: 1, sumLat: 0 });
    const names = image['place']?.['L'] as readonly { readonly S: string }[] | undefined;
    const place = (names ?? []).map(({ S }) => S);
    place.forEach((_, index) => {
      add(`${change?.scope}/${JSON.stringify(place.slice(0, index + 1))}`, { count: 1, sumLng: 0, sumLat: 0 });
    });
  }
  return new Map([...counts].map(([name, { count, sumLng, sumLat }]) => [name, `${count} ${sumLng} ${sumLat}`]));
}

function differences(found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): string[] {
  const names = new Set([...found.keys(), ...expected.keys()]);
  return [...names]
    .filter((name) => found.get(name) !== expected.get(name))
    .map((name) => `the count of ${name} is ${found.get(name) ?? 'absent'}, must be ${expected.get(name) ?? 'absent'}`);
}

/** The markers of a scope in the table that differ from those in its pages. */
function pageDifferences(table: TableModel, derived: DerivedModel, scope: string): string[] {
  const pages = derived.pages.all(scope);
  const found = pages.flatMap(({ entries }) => entries);
  const expected = [...table.items.values()].flatMap((image) => {
    const key = keys.parseMarker({ pk: String(image['pk']?.['S']), sk: String(image['sk']?.['S']) });
    const marker = key?.scope === scope ? mapMarkerFromIndex(keys, itemOfImage(image), '') : undefined;
    return marker ? [orderedMarker(marker)] : [];
  });
  expected.sort((a, b) => compareBytes(a.position, b.position));
  const chained = pages.every(({ begin, end }, index) => {
    const next = pages[index + 1]?.begin;
    return end === (next?.charAt(0) === begin.charAt(0) ? next : undefined);
  });
  const failures = chained ? [] : [`the pages of ${scope} do not follow each other`];
  if (isDeepStrictEqual(found, expected)) return failures;
  return [
    ...failures,
    `the pages of ${scope} have ${found.map(shownEntry).join(' ')}, not ${expected.map(shownEntry).join(' ')}`,
  ];
}

const shownEntry = ({ position, marker }: OrderedMarker) =>
  `${position} ${marker.name} ${JSON.stringify(marker.mapProperties)}`;

/** Whether a marker was changed without a record. */
const wasEverGone = ({ history }: TableModel, scope: string, key: string): boolean =>
  history.some((record) => {
    const change = changeOf(keys, record);
    return change?.scope === scope && change.key === key && change.after === undefined;
  });

/** What a repartition writes: other entries in the geo indexes or other map properties, and nothing else. */
function repartitionMarker(table: TableModel, world: World, { pk, sk }: Key): void {
  const { chance } = world;
  const image = table.items.get(`${pk}#${sk}`);
  if (image === undefined) return;
  const partition = { S: `${pk}::${chance.integer(1, 3)}` };
  const m = { M: { price: { N: String(chance.integer(1, 3)) } } };
  table.write(pk, sk, { ...image, ...chance.pick([{ gpkA: partition }, { gpkB: partition }, { m }]) });
}

/** One write of any kind. */
function writeSomething(table: TableModel, world: World): void {
  const { chance } = world;
  const scope = chance.pick(SCOPES);
  const marker = keys.marker(scope, `m${chance.integer(1, 9)}`);
  const { pk, sk } = marker;
  const kind = chance.next();
  if (kind < 0.08) repartitionMarker(table, world, marker);
  else if (kind < 0.68) {
    const [lng, lat] = chance.pick(POSITIONS);
    const place = { L: chance.pick(HIERARCHY).map((name) => ({ S: name })) };
    table.write(pk, sk, { lng: { N: lng }, lat: { N: lat }, place, name: { S: `name ${chance.integer(1, 3)}` } });
  } else if (kind < 0.86) table.write(pk, sk, undefined);
  else if (kind < 0.91) table.write(pk, sk, chance.pick(POISON));
  else if (kind < 0.94)
    table.write(pk, 'reading::2026-01-01T00:00:00.000Z', { at: { N: String(chance.integer(1, 9)) } });
  else if (kind < 0.97) table.write('collection', scope, { name: { S: String(chance.integer(1, 9)) } });
  else table.write('something::else', 'self', { lng: { N: '1' }, lat: { N: String(chance.integer(1, 9)) } });
}

/** Blocks that take up to a second to write. */
const slowly = (cells: CellsPort, world: World): CellsPort => ({
  ...cells,
  async write(writes) {
    await world.wait(world.chance.next() * 1_000);
    return cells.write(writes);
  },
});

/** Runs one world from its seed: writers, consumers that die, sleep and return, and finally a period without faults. */
export async function simulate(seed: number, plant: Plant = (ports) => ports): Promise<Outcome> {
  const world = new World(seed);
  const { chance } = world;
  const table = new TableModel(world);
  const derived = new DerivedModel();
  const faults: Faults = {
    refused: chance.pick([0, 0.02, 0.1]),
    answerLost: chance.pick([0, 0.02, 0.1]),
    slowestMs: chance.pick([5, 40, 400]),
    skewMs: chance.pick([1_000, 300_000]),
  };
  // Summaries take half of the time.
  const summarizes = chance.happens(0.4);
  // So that a batch is published, and the next one begun, long before it is applied.
  const isSlow = seed % 2 === 1;
  const failures: string[] = [];
  derived.pages.onGone = (scope, key) => {
    if (!wasEverGone(table, scope, key)) failures.push(`marker ${key} of ${scope} was in no page, but never deleted`);
  };
  const pageReader = new PageReader(world, derived, seed);
  const running: { process: Process; consumer: Consumer }[] = [];
  let started = 0;
  let dark = false;
  let calm = false;

  function start(): void {
    if (dark) return;
    const process = new Process(world, faults, `host:${(started += 1)}`);
    const ports = plant(process.ports(table, derived), world, derived);
    // The call of a function, which ends once the last record is applied or its time is up; another one follows.
    const isCall = seed % 3 === 0 && started % 2 === 0 && !calm;
    const end = world.now + 2_500;
    const awaited = awaitRecord(table.history.at(-1), process.clock());
    const consumer = new Consumer({
      ...ports,
      ...(isSlow ? { cells: slowly(ports.cells, world) } : {}),
      days: summarizes ? ports.days : undefined,
      clock: process.clock(),
      keys,
      log: silentLog,
      self: process.name,
      since: () => Promise.resolve(0),
      // The kernel tells which processes on the same host are dead.
      ownerIsGone: (owner) =>
        knowsTheDead && !running.some(({ process: other }) => other.alive && other.name === owner),
      leaseMs: 10_000,
      pollMs: 200,
      onRecord: awaited.onRecord,
      enough: (state, completeAt, closed) =>
        isCall && (world.now > end || (closed && awaited.isApplied(state, completeAt))),
      limits: { records: chance.pick([3, 20, 1_000]), cells: 1_000 },
      // Whether a batch waits for more while markers arrive.
      load: {
        blocks: 1,
        recordsPerSecond: chance.pick([1, Infinity]),
        growth: chance.pick([0, 2, Infinity]),
        waitMs: 10_000,
        firstLoad: { blocks: chance.pick([1, Infinity]), waitMs: 20_000, fromRestMs: chance.pick([0, 20_000]) },
      },
    });
    running.push({ process, consumer });
    const ended = () => {
      process.kill();
      if (!process.stop.signal.aborted) world.schedule(200, start);
    };
    consumer.run(process.stop.signal).then(ended, (error: unknown) => {
      failures.push(`a consumer ended: ${String(error)}`);
    });
  }
  const knowsTheDead = chance.happens(0.5);
  const alive = () => running.filter(({ process }) => process.alive);
  function look(): void {
    if (failures.length === 0) failures.push(...wrongCounts(table, derived, keys, SCOPES), ...pageReader.look());
  }

  // The behavior of every process during the next minute.
  const writes = chance.integer(20, 70);
  const consumers = chance.integer(1, 3);
  const outage = chance.happens(0.12);
  let busyUntil = 0;
  function planTrouble(fromMs: number, untilMs: number): void {
    const at = () => fromMs - world.now + chance.next() * (untilMs - fromMs);
    for (let count = writes; count > 0; count -= 1) world.schedule(at(), () => writeSomething(table, world));
    if (summarizes) {
      for (let count = writes / 3; count > 0; count -= 1) world.schedule(at(), () => writeReading(table, world));
    }
    for (let count = chance.integer(0, 3); count > 0; count -= 1) world.schedule(at(), () => table.splitSomeShard());
    for (let count = chance.integer(0, 4); count > 0; count -= 1) {
      world.schedule(at(), () => {
        const victim = alive().length > 0 ? chance.pick(alive()) : undefined;
        victim?.process.kill();
        world.schedule(chance.next() * 3_000, start);
      });
    }
    for (let count = chance.integer(0, 3); count > 0; count -= 1) {
      world.schedule(at(), () => {
        if (alive().length > 0) chance.pick(alive()).process.pauseFor(chance.pick([1_000, 12_000, 25_000]));
      });
    }
    if (chance.happens(0.1)) {
      // A first start would have to learn it from the table's age, which the simulation omits.
      world.schedule(at(), () => derived.state && table.switchStream(chance.pick([0, 100, 15_000])));
    }
    if (chance.happens(0.2)) {
      world.schedule(at(), () => {
        const leaving = alive().length > 0 ? chance.pick(alive()) : undefined;
        leaving?.process.stop.abort(new Error('stopped'));
        world.schedule(chance.next() * 2_000, start);
      });
    }
    for (let ms = fromMs; ms < untilMs + 10_000; ms += LOOK_EVERY_MS) world.schedule(ms - world.now, look);
    busyUntil = untilMs;
  }

  for (let count = consumers; count > 0; count -= 1) world.schedule(chance.next() * 1_000, start);
  planTrouble(0, chance.pick([3_000, 20_000]));
  await world.run(() => world.now >= busyUntil, 60_000);
  if (outage) {
    // Nothing is read for hours while there are writes and splits, and the stream is trimmed.
    for (const { process } of running) process.kill();
    dark = true;
    const hours = chance.integer(1, 60);
    for (let hour = 0; hour < hours; hour += 1) {
      await world.run(() => false, HOUR_MS);
      if (chance.happens(0.1)) writeSomething(table, world);
      if (hour % 4 === 0) table.splitSomeShard();
      table.trim();
    }
    if (chance.happens(0.1)) {
      table.makeAnew();
      // Nothing has been read yet, so the earlier table cannot be known.
      if (derived.state === undefined) table.history.length = 0;
    }
    dark = false;
    start();
    planTrouble(world.now, world.now + 5_000);
    await world.run(() => world.now >= busyUntil, 60_000);
  }

  // From here on nothing fails, so one of the consumers must reach the end.
  Object.assign(faults, { refused: 0, answerLost: 0, slowestMs: 5 });
  table.faulty = false;
  calm = true;
  start();
  await world.run(() => false, 30_000);
  const isDone = () =>
    alive().some(({ consumer }) => {
      const { owner, behindMs } = consumer.status();
      return owner && behindMs !== undefined && behindMs < 1_000;
    });
  if (!(await world.run(isDone, 300_000))) failures.push('no consumer has reached the end of the stream');
  // The heartbeat also stores this in the state.
  await world.run(() => false, 6_000);

  if (summarizes && !(await world.run(() => derived.days.isDone, 30_000)))
    failures.push('days are due and not summarized');

  const { state } = derived;
  const gap = state?.gap?.reason;
  if (state === undefined) failures.push('there is no state');
  else {
    if (state.plan !== null) failures.push('the last batch was not declared complete');
    if (!state.atEnd) failures.push('the state does not say that the end was reached');
    if (gap !== undefined && !outage && !table.switched) failures.push(`a gap without a loss: ${gap}`);
    if (gap === undefined && table.switched) failures.push('the stream was switched off unnoticed');
    if (gap === undefined) {
      failures.push(...differences(derived.cells(), bruteForce(table)));
      if (summarizes) failures.push(...derived.days.differences(table));
      for (const scope of SCOPES) failures.push(...pageDifferences(table, derived, scope));
      const poison = table.history.flatMap((record) =>
        changeOf(keys, record)?.fault === undefined ? [] : [record.sequence],
      );
      const letters = [...derived.deadLetters.values()].map(({ sequence }) => sequence);
      if (poison.toSorted().join() !== letters.toSorted().join())
        failures.push('the dead letters are not the poisonous records');
      if (state.deadLetters !== poison.length) failures.push(`${state.deadLetters} dead letters, of ${poison.length}`);
      if (state.records !== table.history.length) failures.push(`${state.records} records, of ${table.history.length}`);
    }
  }
  failures.push(...derived.pages.wrongHints.map((hint) => `the directory named ${hint} before there was such a page`));
  for (const { process } of running) {
    process.kill();
    process.stop.abort(new Error('over'));
  }
  const [records, batches] = [table.history.length, state?.batch ?? 0];
  return { failures, gap, records, blockWrites: derived.writes, batches, pagesKept: pageReader.hits };
}
