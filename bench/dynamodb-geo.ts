import { itemBytes } from '../src/store/request/item-size.js';
import { areaOf, entryBytes, keysIn, requests, scan, wired } from './rig/measure-views.js';
import { attributesOf, fillPeer, loadPeer, MOST_QUERIES, type PeerPackage } from './rig/peer.js';
import { fixedViews, type View } from './rig/places.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { startRig } from './rig/rig.js';
import { mean, shown, sum, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const HASH_KEY_LENGTHS = [2, 3, 4, 5];

/** The result of one map. */
interface Answer {
  readonly view: View;
  readonly inside: number;
  readonly outcome: 'right' | 'wrong' | 'throws' | 'too many';
  readonly queries: number;
  readonly readUnits: number;
  readonly floor: number;
  readonly coverMs: number;
}

/** Read units for 200 markers, on maps with 100 to 400. */
function unitsOf200(answers: readonly Answer[], of: (answer: Answer) => number): string {
  const some = answers.filter(({ inside }) => inside >= 100 && inside <= 400);
  return shown((200 * sum(some.map(of))) / sum(some.map(({ inside }) => inside)));
}

const unitsOf = (bytes: number) => Math.max(0.5, Math.ceil(bytes / 4096) / 2);

/** Read units of one Query over exactly the items inside, in the peer's table. */
function floorOf(inside: readonly BenchMarker[], length: number): number {
  const bytes = inside.reduce((total, marker) => {
    const geoJson = JSON.stringify({ type: 'POINT', coordinates: [marker.position.lng, marker.position.lat] });
    const own = { hashKey: 10 ** length, rangeKey: marker.key, geohash: 1_234_567_890_123_456, geoJson };
    return total + itemBytes({ ...own, ...attributesOf(marker) });
  }, 0);
  return unitsOf(bytes);
}

async function measurePeer(peer: PeerPackage, length: number, markers: readonly BenchMarker[]) {
  const { manager, seen, close } = await fillPeer(peer, length, markers);
  try {
    const answers: Answer[] = [];
    for (const view of fixedViews()) {
      const inside = scan(markers, view);
      // Its rectangles have longitudes of -180 to 180; by its documentation, west > east crosses the antimeridian.
      const { parts } = areaOf(view);
      const [first] = parts;
      const last = parts.at(-1);
      const keys = new Set<string>();
      let outcome: Answer['outcome'] = 'right';
      seen.queries = 0;
      seen.readUnits = 0;
      const cpu = process.cpuUsage();
      try {
        const found = manager.queryRectangle({
          MinPoint: { latitude: first?.south ?? 0, longitude: first?.west ?? 0 },
          MaxPoint: { latitude: last?.north ?? 0, longitude: last?.east ?? 0 },
        });
        const { user, system } = process.cpuUsage(cpu);
        for (const { rangeKey } of await found) keys.add(rangeKey.S);
        if (keys.size !== inside.length || inside.some(({ key }) => !keys.has(key))) outcome = 'wrong';
        answers.push(answer(user + system));
      } catch {
        outcome = seen.queries > MOST_QUERIES ? 'too many' : 'throws';
        answers.push(answer(0));
      }
      function answer(coverUs: number): Answer {
        const { queries, readUnits } = seen;
        return {
          view,
          inside: inside.length,
          outcome,
          queries,
          readUnits,
          floor: floorOf(inside, length),
          coverMs: coverUs / 1e3,
        };
      }
    }
    return answers;
  } finally {
    await close();
  }
}

/**
 * Draws each map twice: on a server that has just started, then with the directory of pages in memory. Markers are not
 * cached.
 */
async function measureOurs(markers: readonly BenchMarker[]) {
  const rig = await startRig();
  try {
    const collection = await rig.fill('cities', markers);
    const cold: Answer[] = [];
    const known: Answer[] = [];
    for (const view of fixedViews()) {
      const inside = scan(markers, view);
      const floor = unitsOf(inside.reduce((total, marker) => total + entryBytes(rig, collection, marker), 0));
      rig.coolDown();
      for (const answers of [cold, known]) {
        const keys: string[] = [];
        const wire = await wired(rig, async () => keys.push(...(await keysIn(rig, 'cities', view))));
        const found = new Set(keys);
        const right = found.size === inside.length && inside.every(({ key }) => found.has(key));
        answers.push({
          view,
          inside: inside.length,
          outcome: right ? 'right' : 'wrong',
          queries: requests(wire),
          readUnits: wire.readUnits,
          floor,
          coverMs: 0,
        });
      }
    }
    return { cold, known };
  } finally {
    await rig.close();
  }
}

const FAILURES = [
  ['wrong', 'lose markers'],
  ['throws', 'throw'],
  ['too many', `over ${MOST_QUERIES} calls`],
] as const;

function summary(name: string, answers: readonly Answer[], answered: (answer: Answer) => boolean) {
  const of = (outcome: Answer['outcome']) => answers.filter((each) => each.outcome === outcome).length;
  const some = answers.filter((each) => each.inside > 0 && each.inside <= 2_000 && answered(each));
  return [
    name,
    [of('right'), ...FAILURES.flatMap(([outcome, words]) => (of(outcome) > 0 ? [`${of(outcome)} ${words}`] : []))].join(
      ', ',
    ),
    shown(mean(some.map(({ queries }) => queries))),
    Math.max(0, ...some.map(({ queries }) => queries)),
    shown(mean(some.map(({ readUnits, floor }) => readUnits / floor)), 2),
    unitsOf200(some, ({ readUnits }) => readUnits),
  ];
}

const listed = (answers: readonly Answer[], outcome: Answer['outcome']) =>
  answers
    .filter((each) => each.outcome === outcome)
    .map(({ view }) => `${view.name} ${view.zoom}`)
    .join(', ') || 'none';

const sameView = (a: View, b: View) => a.name === b.name && a.zoom === b.zoom;

async function run({ say }: BenchOptions): Promise<Section> {
  const peer = loadPeer();
  const markers = cityMarkers();
  say('Cellport');
  const ours = await measureOurs(markers);
  const theirs: { readonly length: number; readonly answers: readonly Answer[] }[] = [];
  for (const length of HASH_KEY_LENGTHS) {
    say(`dynamodb-geo, hash key length ${length}`);
    theirs.push({ length, answers: await measurePeer(peer, length, markers) });
  }
  const right = (answers: readonly Answer[]) => answers.filter(({ outcome }) => outcome === 'right').length;
  // The hash key length that suits the peer best, for the maps that it answers.
  const best = theirs.toSorted((a, b) => right(b.answers) - right(a.answers))[0];
  const answeredByBest = (each: Answer) =>
    best?.answers.find(({ view }) => sameView(view, each.view))?.outcome === 'right';
  say(
    `hash key length ${best?.length} throws at: ${listed(best?.answers ?? [], 'throws')}; loses markers at: ${listed(best?.answers ?? [], 'wrong')}`,
  );
  const rowsOf = (some: typeof theirs) => [
    ['', 'right', 'requests, mean', 'most', 'units / yardstick', 'units, 200'],
    summary('Cellport, nothing in memory', ours.cold, answeredByBest),
    summary('Cellport, directory in memory', ours.known, answeredByBest),
    ...some.map(({ length, answers }) =>
      summary(`dynamodb-geo (${length})`, answers, ({ outcome }) => outcome === 'right'),
    ),
  ];
  return {
    title: 'The same maps with dynamodb-geo 0.4.0',
    rows: [
      {
        what: 'maps answered correctly, of 66',
        bar: 'all',
        measured: String(right(ours.cold)),
        against: `dynamodb-geo ${theirs.map(({ length, answers }) => `${right(answers)} (${length})`).join(', ')}`,
        holds: right(ours.cold) === ours.cold.length && right(ours.known) === ours.known.length,
      },
    ],
    text: [
      `The fixed maps of "Viewports"; in brackets the length of hash keys. Requests and read units are those of maps with 1 to 2,000`,
      `markers that (${best?.length}) answers. "200" means 200 markers, on maps with 100 to 400; the yardstick takes ${unitsOf200(ours.cold, ({ floor }) => floor)} units for them.\n`,
      table(rowsOf(best ? [best] : [])),
    ].join('\n'),
    details: table(rowsOf(theirs)),
  };
}

export const dynamodbGeo: Benchmark = { name: 'dynamodb-geo', hasCounts: false, run };
