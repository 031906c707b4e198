import type { Point } from '../src/geo/bounds.js';
import { distance } from '../src/geo/distance.js';
import { compareWithPostgis } from './near-postgis.js';
import { wired } from './rig/measure-views.js';
import { fillPeer, loadPeer, MOST_QUERIES } from './rig/peer.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { mean, shown, sum, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const HASH_KEY_LENGTHS = [2, 4];
const RADII = [1_000, 10_000, 50_000, 500_000];
const CENTERS: readonly (Point & { readonly name: string })[] = [
  { name: 'Poznań', lng: 16.93, lat: 52.41 },
  { name: 'Tokyo', lng: 139.69, lat: 35.69 },
  { name: 'São Paulo', lng: -46.63, lat: -23.55 },
  { name: 'Alice Springs', lng: 133.88, lat: -23.7 },
  { name: 'Null Island', lng: 0, lat: 0 },
  { name: 'South Pacific', lng: -140, lat: -45 },
  { name: 'Taveuni, on the antimeridian', lng: 180, lat: -16.85 },
  { name: 'near the antimeridian', lng: -179.95, lat: -16.6 },
  { name: 'Longyearbyen', lng: 15.6, lat: 78.22 },
  { name: 'the South Pole', lng: 0, lat: -90 },
];

/** The peer uses another Earth radius: markers this close to the edge, as a share of the radius, may be in or out. */
const TOLERANCE = 0.002;

interface Answer {
  readonly outcome: 'right' | 'wrong' | 'throws' | 'too many';
  readonly queries: number;
  readonly readUnits: number;
  readonly ms: number;
}

const questions = CENTERS.flatMap((center) => RADII.map((radius) => ({ center, radius })));
type Question = (typeof questions)[number];

function isRight(markers: readonly BenchMarker[], { center, radius }: Question, keys: ReadonlySet<string>): boolean {
  const meters = markers.map(({ key, position }) => ({ key, far: distance(center, position) / radius }));
  return meters.every(({ key, far }) => Math.abs(far - 1) < TOLERANCE || keys.has(key) === far <= 1);
}

const WITHIN = `query ($collection: String!, $center: PointInput!, $radius: Float!, $after: String) {
  collection(key: $collection) {
    within(center: $center, radius: $radius, first: 5000, after: $after) {
      nodes { key } pageInfo { hasNextPage endCursor }
    }
  }
}`;

interface Page {
  readonly collection: {
    readonly within: {
      readonly nodes: readonly { readonly key: string }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    };
  };
}

async function keysWithin(rig: Rig, { center: { lng, lat }, radius }: Question): Promise<string[]> {
  const keys: string[] = [];
  let after: string | null = null;
  do {
    const variables: Record<string, unknown> = { collection: 'cities', center: { lng, lat }, radius, after };
    const { within }: Page['collection'] = (await rig.ask<Page>(WITHIN, variables)).collection;
    keys.push(...within.nodes.map(({ key }) => key));
    after = within.pageInfo.hasNextPage ? within.pageInfo.endCursor : null;
  } while (after !== null);
  return keys;
}

async function measureOurs(markers: readonly BenchMarker[], { quick, say }: BenchOptions) {
  const rig = await startRig();
  try {
    await rig.fill('cities', markers);
    const measure = async (question: Question): Promise<Answer> => {
      let keys: string[] = [];
      const begun = performance.now();
      const { queries, readUnits } = await wired(rig, async () => void (keys = await keysWithin(rig, question)));
      const ms = performance.now() - begun;
      const right = isRight(markers, question, new Set(keys)) && new Set(keys).size === keys.length;
      return { outcome: right ? 'right' : 'wrong', queries, readUnits, ms };
    };
    const cold: Answer[] = [];
    const warm: Answer[] = [];
    for (const question of questions) {
      rig.coolDown();
      cold.push(await measure(question));
      warm.push(await measure(question));
    }
    say('PostGIS');
    return { cold, warm, postgis: await compareWithPostgis(rig, markers, quick) };
  } finally {
    await rig.close();
  }
}

async function measurePeer(length: number, markers: readonly BenchMarker[]): Promise<Answer[]> {
  const { manager, seen, close } = await fillPeer(loadPeer(), length, markers);
  try {
    const answers: Answer[] = [];
    for (const question of questions) {
      const { center, radius } = question;
      seen.queries = 0;
      seen.readUnits = 0;
      let outcome: Answer['outcome'];
      const begun = performance.now();
      try {
        const CenterPoint = { latitude: center.lat, longitude: center.lng };
        const found = await manager.queryRadius({ CenterPoint, RadiusInMeter: radius });
        const keys = new Set(found.map(({ rangeKey }) => rangeKey.S));
        outcome = isRight(markers, question, keys) ? 'right' : 'wrong';
      } catch {
        outcome = seen.queries > MOST_QUERIES ? 'too many' : 'throws';
      }
      const { queries, readUnits } = seen;
      answers.push({ outcome, queries, readUnits, ms: performance.now() - begun });
    }
    return answers;
  } finally {
    await close();
  }
}

function summary(
  name: string,
  answers: readonly Answer[],
  counted: (index: number) => boolean,
  ours: readonly Answer[],
) {
  const of = (outcome: Answer['outcome']) => answers.filter((each) => each.outcome === outcome).length;
  const unanswered = of('throws') + of('too many');
  const some = answers.filter((_, index) => counted(index));
  return [
    name,
    [
      of('right'),
      ...(of('wrong') > 0 ? [`${of('wrong')} wrong`] : []),
      ...(unanswered > 0 ? [`${unanswered} unanswered`] : []),
    ].join(', '),
    shown(mean(some.map(({ queries }) => queries))),
    Math.max(0, ...some.map(({ queries }) => queries)),
    shown(sum(some.map(({ readUnits }) => readUnits))),
    timesOurs(ours, answers, counted),
  ];
}

const listed = (answers: readonly Answer[], outcome: Answer['outcome']) =>
  questions
    .filter((_, index) => answers[index]?.outcome === outcome)
    .map(({ center, radius }) => `${center.name} ${radius / 1000} km`)
    .join(', ') || 'none';

/** Times are ratios, because seconds do not carry over to other machines. */
const timesOurs = (ours: readonly Answer[], answers: readonly Answer[], counted: (index: number) => boolean) => {
  const of = (some: readonly Answer[]) => sum(some.filter((_, index) => counted(index)).map(({ ms }) => ms));
  return shown(of(answers) / of(ours));
};

async function run(options: BenchOptions): Promise<Section> {
  const { quick, say } = options;
  const markers = cityMarkers().filter((_, index) => !quick || index % 100 === 0);
  say('Cellport');
  const { cold, warm, postgis } = await measureOurs(markers, options);
  const theirs: { readonly length: number; readonly answers: readonly Answer[] }[] = [];
  for (const length of quick ? HASH_KEY_LENGTHS.slice(0, 1) : HASH_KEY_LENGTHS) {
    say(`dynamodb-geo, hash key length ${length}`);
    theirs.push({ length, answers: await measurePeer(length, markers) });
  }
  for (const { length, answers } of theirs) {
    say(
      `hash key length ${length} throws at: ${listed(answers, 'throws')}; gives up at: ${listed(answers, 'too many')}; is wrong at: ${listed(answers, 'wrong')}`,
    );
  }
  const right = (answers: readonly Answer[]) => answers.filter(({ outcome }) => outcome === 'right').length;
  const local = cold.filter((_, index) => (questions[index]?.radius ?? Infinity) <= 50_000);
  const most = Math.max(...local.map(({ queries }) => queries));
  const byAll = (index: number) => theirs.every(({ answers }) => answers[index]?.outcome === 'right');
  return {
    title: 'Markers by distance and dynamodb-geo 0.4.0',
    isDetail: true,
    rows: [
      {
        what: `circles answered correctly, of ${questions.length}`,
        bar: 'all',
        measured: String(right(cold)),
        against: `dynamodb-geo ${theirs.map(({ length, answers }) => `${right(answers)} (${length})`).join(', ')}`,
        holds: right(cold) === questions.length && right(warm) === questions.length,
      },
      {
        what: 'Query calls for up to 50 km, maximum',
        bar: '32',
        measured: String(most),
        against: '',
        holds: most <= 32,
      },
      {
        what: `random queries with the same answer as PostGIS${postgis ? ` ${postgis.version}` : ''}`,
        bar: 'all',
        measured: postgis
          ? postgis.compared.map(({ kind, total, agreed }) => `${kind} ${agreed} of ${total}`).join(', ')
          : 'skipped: not installed',
        against: postgis ? `${sum(postgis.compared.map((each) => each.markers)).toLocaleString('en')} markers` : '',
        holds: postgis?.compared.every(({ total, agreed }) => agreed === total),
      },
    ],
    text: `Circles of ${RADII.map((radius) => radius / 1000).join(', ')} km around ${CENTERS.length} centers; in brackets the length of hash keys. Cellport also sorts by distance.`,
    details: [
      'Costs are of circles that all answer correctly, to 0.2% of the radius.\n',
      table([
        ['', 'correct', 'Query mean', 'max', 'read units, sum', 'time / ours, cold'],
        summary('Cellport, cold', cold, byAll, cold),
        summary('Cellport, repeated', warm, byAll, cold),
        ...theirs.map(({ length, answers }) => summary(`dynamodb-geo (${length})`, answers, byAll, cold)),
      ]),
    ].join('\n'),
  };
}

export const near: Benchmark = { name: 'near', hasCounts: false, run };
