import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { createCollection } from '../src/store/collection/collections.js';
import { newCall, type Database } from '../src/store/database.js';
import { newMarkerItem } from '../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../src/store/marker/markers.js';
import { post } from './http/load.js';
import { asking, isReady, read } from './peers/cellport.js';
import { askingPostgis, fillPostgis, readPostgis } from './peers/postgis.js';
import { KINDS, MOST, RADIUS, rectanglesOf, saidOf, type Kind, type PeerMarker, type Said } from './peers/question.js';
import { openFreshTables } from './rig/fresh-tables.js';
import { installPeers } from './rig/peer.js';
import { fixedViews, viewsAbout, type View } from './rig/places.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { startPostgis } from './rig/postgis.js';
import { cpuOfTree, memoryOfTree } from './rig/process-tree.js';
import { startServer } from './rig/serve-cities.js';
import { mean, quantile, shown, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const CLIENTS = 16;
const VIEWS = 200;
const SEED = 7;
const ROUNDS = 3;
/** Each round asks all maps this often. */
const PASSES = 2;
const IDLE_MS = 3_000;

/** One of those that are compared. */
interface Side {
  readonly name: string;
  readonly ask: (kind: Kind, view: View) => Promise<Buffer>;
  readonly read: (kind: Kind, text: string) => Said;
  /** The process whose CPU time and memory count, with all that descend from it. */
  readonly pid: number;
  readonly close: () => Promise<void>;
}

/** A side's figures for one kind of question, each by answer. */
interface Figures {
  readonly cpuMs: number;
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
  readonly bytes: number;
}

/** Settings of Cellport's server. */
const CACHES = [
  { name: 'Cellport, 512 MB of caches', settings: { CELLPORT_CACHE_MB: '512' } },
  { name: 'Cellport, default caches', settings: {} },
  { name: 'Cellport, no caches', settings: { CELLPORT_CACHE_MB: '0' } },
] as const;

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function fillTable(database: Database, markers: readonly BenchMarker[]): Promise<void> {
  const now = new Date().toISOString();
  const input = { key: 'cities', name: 'Cities', mapProperties: ['population'] };
  const collection = await createCollection(newCall(database), input, now);
  const items = markers.map((marker) => newMarkerItem(database, collection, marker, now));
  await putMarkersInBulk(newCall(database), items);
}

async function inMemory(markers: readonly BenchMarker[]): Promise<Side> {
  const child = spawn(process.execPath, ['bench/peers/in-memory.mjs'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A structured clone is several times faster than JSON.
    serialization: 'advanced',
  });
  const plain = markers.map(({ key, name, category, position }) => ({ key, name, category, position }));
  child.send({ markers: plain, radius: RADIUS });
  const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }];
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  return {
    name: 'supercluster and kdbush',
    pid: child.pid ?? 0,
    ask: async (kind, view) => {
      const question = { kind, most: MOST[kind], zoom: view.zoom, rectangles: rectanglesOf(view) };
      return (await post(agent, `http://127.0.0.1:${port}/`, JSON.stringify(question))).text;
    },
    read: (kind, text) => {
      const { markers: found, total = 0 } = JSON.parse(text) as { markers?: PeerMarker[]; total?: number };
      return found ? saidOf(found, kind === 'markers' ? MOST.markers : Infinity) : { count: total };
    },
    close: () => {
      agent.destroy();
      return stop(child);
    },
  };
}

async function cellport(
  engine: Parameters<typeof startServer>[0],
  markers: number,
  { name, settings }: (typeof CACHES)[number],
): Promise<Side> {
  const env = { CELLPORT_TABLE: 'bench-peers', CELLPORT_CACHE_MB: '64', CELLPORT_EXPLAIN: 'off', ...settings };
  const { child, url } = await startServer(engine, [], env, (line) => line.includes('Serving'));
  const { ask, close } = asking(`${url}/graphql`, CLIENTS);
  while (!(await isReady(`${url}/graphql`, markers))) await sleep(500);
  return {
    name,
    ask,
    read,
    pid: child.pid ?? 0,
    close: () => {
      close();
      return stop(child);
    },
  };
}

async function eachOf(views: readonly View[], one: (view: View) => Promise<void>): Promise<void> {
  const left = [...views];
  const worker = async () => {
    for (let view = left.pop(); view; view = left.pop()) await one(view);
  };
  await Promise.all(Array.from({ length: CLIENTS }, worker));
}

async function round({ ask, pid }: Side, kind: Kind, views: readonly View[], idle: number): Promise<Figures> {
  const took: number[] = [];
  const bytes: number[] = [];
  const asked = Array.from({ length: PASSES }, () => views).flat();
  const before = cpuOfTree(pid);
  const began = performance.now();
  await eachOf(asked, async (view) => {
    const from = performance.now();
    bytes.push((await ask(kind, view)).length);
    took.push(performance.now() - from);
  });
  const elapsed = performance.now() - began;
  return {
    cpuMs: (cpuOfTree(pid) - before - idle * elapsed) / asked.length,
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    perSecond: (1_000 * asked.length) / elapsed,
    bytes: mean(bytes),
  };
}

async function idleOf({ pid }: Side): Promise<number> {
  const before = cpuOfTree(pid);
  await sleep(IDLE_MS);
  return (cpuOfTree(pid) - before) / IDLE_MS;
}

/** The number of maps about which both say the same, of each kind. */
async function agreeing(one: Side, other: Side, views: readonly View[]): Promise<Record<Kind, number>> {
  const agreed = { markers: 0, auto: 0, count: 0 };
  for (const kind of KINDS) {
    await eachOf(views, async (view) => {
      const [a, b] = await Promise.all(
        [one, other].map(async (side) => side.read(kind, String(await side.ask(kind, view)))),
      );
      if (JSON.stringify(a) === JSON.stringify(b)) agreed[kind]++;
    });
  }
  return agreed;
}

/** The round with the median CPU time. */
const typical = (rounds: readonly Figures[]): Figures =>
  rounds.toSorted((a, b) => a.cpuMs - b.cpuMs)[rounds.length >> 1] ?? {
    cpuMs: NaN,
    p50: NaN,
    p99: NaN,
    perSecond: NaN,
    bytes: NaN,
  };

type Measured = ReadonlyMap<Side, Record<Kind, Figures>>;

/** Sides in alternating rounds. */
async function sideBySide(sides: readonly Side[], views: readonly View[]): Promise<Measured> {
  const idle = new Map<Side, number>();
  for (const side of sides) {
    for (const kind of KINDS) await round(side, kind, views, 0);
    idle.set(side, await idleOf(side));
  }
  const measured = new Map<Side, Record<Kind, Figures>>();
  const rounds = new Map(sides.map((side) => [side, { markers: [], auto: [], count: [] } as Record<Kind, Figures[]>]));
  for (const kind of KINDS) {
    for (let turn = 0; turn < ROUNDS; turn++) {
      for (const side of sides) rounds.get(side)?.[kind].push(await round(side, kind, views, idle.get(side) ?? 0));
    }
  }
  for (const [side, { markers, auto, count }] of rounds) {
    measured.set(side, { markers: typical(markers), auto: typical(auto), count: typical(count) });
  }
  return measured;
}

/** The bars of CPU time over PostGIS's, by settings. */
const BARS: Readonly<Record<string, Partial<Record<Kind, number>>>> = {
  'Cellport, default caches': { markers: 0.8, auto: 0.25, count: 0.7 },
  'Cellport, no caches': { markers: 2.5, count: 3 },
};
const QUESTION: Readonly<Record<Kind, string>> = {
  markers: 'up to 2,000 markers',
  auto: 'up to 300 markers, or clusters',
  count: 'a count',
};

function rowsOf(ours: Side, measured: Measured, postgis: Side): Row[] {
  const [mine, theirs] = [measured.get(ours), measured.get(postgis)];
  if (!mine || !theirs) return [];
  return KINDS.map((kind): Row => {
    const ratio = mine[kind].cpuMs / theirs[kind].cpuMs;
    const most = BARS[ours.name]?.[kind];
    return {
      what: `${QUESTION[kind]}: CPU an answer, ${ours.name.replace('Cellport, ', '')}`,
      bar: most === undefined ? '' : `at most ${most} times`,
      measured: `${shown(mine[kind].cpuMs, 2)} ms, ${shown(ratio, 2)} times`,
      against: `PostGIS: ${shown(theirs[kind].cpuMs, 2)} ms`,
      holds: most === undefined ? undefined : ratio <= most,
    };
  });
}

function linesOf(measured: Measured): string[][] {
  return Array.from(measured, ([{ name, pid }, figures]) => [
    name,
    ...KINDS.flatMap((kind) => {
      const { cpuMs, p50, p99, perSecond } = figures[kind];
      return [shown(cpuMs, 2), `${shown(p50, 0)} / ${shown(p99, 0)}`, shown(perSecond, 0)];
    }),
    shown(memoryOfTree(pid), 0),
    shown(figures.markers.bytes / 1_024, 0),
  ]);
}

const HEAD = [
  '',
  ...KINDS.flatMap((kind) => [`${kind}: CPU ms`, 'p50 / p99 ms', 'a second']),
  'memory, MB',
  'KB of markers',
];

async function run({ say }: BenchOptions): Promise<Section> {
  execFileSync(process.execPath, ['scripts/build.mjs', '--compress-quickly'], { stdio: 'ignore' });
  installPeers();
  const markers = cityMarkers();
  const views = [...fixedViews(), ...viewsAbout(markers, VIEWS, SEED)];
  const started = await startPostgis();
  if (!started) throw new Error('PostGIS is not installed (Debian: postgresql postgis postgresql-15-postgis-3)');
  const { engine, database, close } = await openFreshTables({ table: 'bench-peers' });
  const open: Side[] = [];
  try {
    say('loading');
    fillPostgis(started, markers);
    const { ask, close: closeClients } = await askingPostgis(started, CLIENTS);
    const postgis: Side = {
      name: `PostGIS ${started.version}`,
      pid: started.pid,
      ask,
      read: readPostgis,
      close: closeClients,
    };
    const memory = await inMemory(markers);
    open.push(memory, postgis);
    const filled = fillTable(database, markers);
    const rows: Row[] = [];
    const lines: string[][] = [];
    await filled;
    for (const cache of CACHES) {
      say(cache.name);
      const ours = await cellport(engine, markers.length, cache);
      open.push(ours);
      const agreed = await agreeing(ours, postgis, views);
      say(`as PostGIS answers, of ${views.length}: ${JSON.stringify(agreed)}`);
      rows.push({
        what: `maps answered as PostGIS does, ${cache.name.replace('Cellport, ', '')}`,
        bar: 'all',
        measured: KINDS.map((kind) => `${kind} ${agreed[kind]} of ${views.length}`).join(', '),
        against: '',
        holds: KINDS.every((kind) => agreed[kind] === views.length),
        isDetail: true,
      });
      const measured = await sideBySide([ours, postgis, memory], views);
      rows.push(...rowsOf(ours, measured, postgis));
      lines.push(...linesOf(measured));
      await ours.close();
      open.pop();
    }
    return {
      title: 'Beside PostGIS and supercluster',
      rows,
      text: `${markers.length.toLocaleString('en')} cities, ${views.length} maps, ${CLIENTS} connections. CPU is that of all processes of a side; DynamoDB's is not counted. PostGIS answers with JSON that it makes itself, and its clusters are a grid; supercluster and kdbush have everything in memory behind a bare HTTP server. PostGIS compares coordinates besides its index, which rounds them to 32 bits: without that, one map has a marker too many, and a count takes a third of the time.`,
      details: table([HEAD, ...lines]),
      isDetail: true,
    };
  } finally {
    for (const side of open) await side.close();
    await close();
    await started.close();
  }
}

export const peers: Benchmark = { name: 'peers', hasCounts: false, run };
