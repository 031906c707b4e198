import type { Point } from '../src/geo/bounds.js';
import { EARTH_RADIUS } from '../src/geo/distance.js';
import { randomFrom } from '../test/support/random.js';
import type { BenchMarker } from './rig/points.js';
import { startPostgis, type Postgis } from './rig/postgis.js';
import type { Rig } from './rig/rig.js';

/** Random queries of each kind. */
const QUESTIONS = { within: 1_500, nearest: 500, inside: 1_000 };
const SEED = 5;
/** Both sides round: markers this close to the radius or to each other's distance, in meters, may be in either order. */
const ROUNDING = 0.001;

interface Circle {
  readonly center: Point;
  readonly radius: number;
  readonly count: number;
}

interface Compared {
  readonly kind: string;
  readonly total: number;
  readonly agreed: number;
  /** Total number of markers in Cellport's answers. */
  readonly markers: number;
}

interface Asked {
  readonly collection: Readonly<Record<string, unknown>>;
}
interface Nodes {
  readonly nodes: readonly { readonly key: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const PAGE = 'nodes { key } pageInfo { hasNextPage endCursor }';
const WITHIN = `query ($center: PointInput!, $radius: Float!, $after: String) {
  collection(key: "cities") { answer: within(center: $center, radius: $radius, first: 5000, after: $after) { ${PAGE} } }
}`;
const INSIDE = `query ($polygon: GeoJSON!, $after: String) {
  collection(key: "cities") { answer: inside(polygon: $polygon, first: 5000, after: $after) { ${PAGE} } }
}`;
const NEAREST = `query ($center: PointInput!, $count: Int!) {
  collection(key: "cities") { answer: nearest(center: $center, count: $count) { distance node { key } } }
}`;

async function allKeys(rig: Rig, query: string, variables: Readonly<Record<string, unknown>>): Promise<string[]> {
  const keys: string[] = [];
  for (let after: string | null = null; ;) {
    const { answer } = (await rig.ask<Asked>(query, { ...variables, after })).collection as { answer: Nodes };
    keys.push(...answer.nodes.map(({ key }) => key));
    if (!answer.pageInfo.hasNextPage) return keys;
    after = answer.pageInfo.endCursor;
  }
}

/** Random centers: most near a city, some anywhere, including poles and the antimeridian. */
function circles(markers: readonly BenchMarker[], count: number, random: () => number): Circle[] {
  return Array.from({ length: count }, () => {
    const city = markers[Math.floor(random() * markers.length)]?.position ?? { lng: 0, lat: 0 };
    const anywhere = { lng: random() * 360 - 180, lat: (Math.asin(2 * random() - 1) * 180) / Math.PI };
    const beside = { lng: 179.9 + random() * 0.2 - (random() < 0.5 ? 360 : 0), lat: random() * 170 - 85 };
    const kind = random();
    const { lng, lat } = kind < 0.7 ? city : kind < 0.9 ? anywhere : beside;
    const center = { lng: Math.max(-180, Math.min(180, lng)), lat };
    return { center, radius: 10 ** (2 + 3.3 * random()), count: Math.ceil(100 * random() ** 2) };
  });
}

/** A star-shaped polygon around a place; longitudes may continue beyond 180. */
function star({ center, radius }: Circle, random: () => number): number[][] {
  const corners = 3 + Math.floor(random() * 30);
  const degrees = radius / 50_000 + 0.01;
  const ring = Array.from({ length: corners }, (_, corner) => {
    const angle = (2 * Math.PI * corner) / corners;
    const far = degrees * (0.2 + 0.8 * random());
    const lat = center.lat + far * Math.sin(angle);
    return [center.lng + 1.5 * far * Math.cos(angle), Math.max(-90, Math.min(90, lat))];
  });
  return [...ring, ring[0] ?? []];
}

const copy = (table: string, rows: readonly (readonly (string | number)[])[]) =>
  `COPY ${table} FROM STDIN;\n${rows.map((row) => row.join('\t')).join('\n')}\n\\.\n`;

function load({ sql }: Postgis, markers: readonly BenchMarker[]): void {
  const rows = markers.map(({ key, position: { lng, lat } }) => [key, lng, lat]);
  sql(`CREATE TABLE cities (key text, lng float8, lat float8);
${copy('cities', rows)}
ALTER TABLE cities ADD p geometry; UPDATE cities SET p = ST_Point(lng, lat);
CREATE INDEX ON cities (lat); CREATE INDEX ON cities USING gist (p); ANALYZE cities;
CREATE TABLE circles (id int, c geometry, radius float8, n int);
CREATE TABLE shapes (id int, shape geometry);`);
}

const listIn = (text = '') => (text === '' ? [] : text.split(','));

const rowsOf = (circles: readonly Circle[]) =>
  circles.map(({ center, radius, count }, id) => [id, `POINT(${center.lng} ${center.lat})`, radius, count]);

async function compareWithin(rig: Rig, { sql }: Postgis, circles: readonly Circle[]): Promise<Compared> {
  // Prefilter by latitude only: a marker is at least as far away as its difference in latitude.
  const lines = sql(`TRUNCATE circles; ${copy('circles', rowsOf(circles))}
SELECT id, string_agg(key, ',') FILTER (WHERE d <= radius - ${ROUNDING}), string_agg(key, ',') FROM (
  SELECT q.id, q.radius, c.key, ST_DistanceSphere(q.c, c.p, ${EARTH_RADIUS}) AS d FROM circles q JOIN cities c
  ON c.lat BETWEEN ST_Y(q.c) - q.radius / 111000 - 0.001 AND ST_Y(q.c) + q.radius / 111000 + 0.001) AS near
WHERE d <= radius + ${ROUNDING} GROUP BY id;`);
  const theirs = new Map(
    lines.map((line) => line.split('\t')).map(([id, sure, maybe]) => [Number(id), { sure, maybe }]),
  );
  let agreed = 0;
  let markers = 0;
  for (const [id, { center, radius }] of circles.entries()) {
    const keys = await allKeys(rig, WITHIN, { center, radius });
    const ours = new Set(keys);
    const maybe = new Set(listIn(theirs.get(id)?.maybe));
    const same = listIn(theirs.get(id)?.sure).every((key) => ours.has(key)) && keys.every((key) => maybe.has(key));
    if (same && ours.size === keys.length) agreed++;
    markers += keys.length;
  }
  return { kind: 'within', total: circles.length, agreed, markers };
}

async function compareNearest(rig: Rig, { sql }: Postgis, circles: readonly Circle[]): Promise<Compared> {
  const lines = sql(`TRUNCATE circles; ${copy('circles', rowsOf(circles))}
SELECT q.id, string_agg(near.d::text, ',' ORDER BY near.d) FROM circles q, LATERAL (
  SELECT ST_DistanceSphere(q.c, c.p, ${EARTH_RADIUS}) AS d FROM cities c ORDER BY d LIMIT q.n) AS near GROUP BY q.id;`);
  const theirs = new Map(
    lines.map((line) => line.split('\t')).map(([id, list]) => [Number(id), listIn(list).map(Number)]),
  );
  let agreed = 0;
  let markers = 0;
  for (const [id, { center, count }] of circles.entries()) {
    const { answer } = (await rig.ask<Asked>(NEAREST, { center, count })).collection as {
      readonly answer: readonly { readonly distance: number; readonly node: { readonly key: string } }[];
    };
    const expected = theirs.get(id) ?? [];
    const once = new Set(answer.map(({ node }) => node.key)).size === answer.length;
    const same = answer.every(({ distance }, index) => Math.abs(distance - (expected[index] ?? -1)) <= ROUNDING);
    if (once && same && expected.length === answer.length) agreed++;
    markers += answer.length;
  }
  return { kind: 'nearest', total: circles.length, agreed, markers };
}

async function compareInside(rig: Rig, { sql }: Postgis, rings: readonly number[][][]): Promise<Compared> {
  const wkt = (ring: readonly number[][]) => `POLYGON((${ring.map((position) => position.join(' ')).join(',')}))`;
  // PostGIS does not wrap longitudes, so each star is also tested one turn to either side.
  const lines = sql(`TRUNCATE shapes; ${copy(
    'shapes',
    rings.map((ring, id) => [id, wkt(ring)]),
  )}
SELECT q.id, string_agg(DISTINCT c.key, ',') FROM (SELECT id, ST_Translate(shape, turn, 0) AS shape
  FROM shapes, (VALUES (-360), (0), (360)) AS turns (turn)) AS q JOIN cities c ON ST_Covers(q.shape, c.p) GROUP BY q.id;`);
  const theirs = new Map(lines.map((line) => line.split('\t')).map(([id, list]) => [Number(id), listIn(list)]));
  let agreed = 0;
  let markers = 0;
  for (const [id, ring] of rings.entries()) {
    const keys = await allKeys(rig, INSIDE, { polygon: { type: 'Polygon', coordinates: [ring] } });
    const expected = new Set(theirs.get(id));
    if (keys.length === expected.size && keys.every((key) => expected.has(key))) agreed++;
    markers += keys.length;
  }
  return { kind: 'inside', total: rings.length, agreed, markers };
}

/** Compares with PostGIS; undefined if it is not installed. */
export async function compareWithPostgis(rig: Rig, markers: readonly BenchMarker[], quick: boolean) {
  const postgis = await startPostgis();
  if (postgis === undefined) return undefined;
  try {
    const random = randomFrom(SEED);
    const part = (count: number) => circles(markers, quick ? count / 50 : count, random);
    load(postgis, markers);
    const compared = [
      await compareWithin(rig, postgis, part(QUESTIONS.within)),
      await compareNearest(rig, postgis, part(QUESTIONS.nearest)),
      await compareInside(
        rig,
        postgis,
        part(QUESTIONS.inside).map((circle) => star(circle, random)),
      ),
    ];
    return { version: postgis.version, compared };
  } finally {
    await postgis.close();
  }
}
