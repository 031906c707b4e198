import { createRequire } from 'node:module';

import { latToY, lngToX } from '../../src/geo/mercator.js';
import type { View } from '../rig/places.js';
import type { BenchMarker } from '../rig/points.js';
import type { Postgis } from '../rig/postgis.js';
import { MOST, RADIUS, rectanglesOf, saidOf, type Kind, type PeerMarker, type Said } from './question.js';

interface Client {
  connect(): Promise<void>;
  query(query: { name: string; text: string; values: readonly unknown[] }): Promise<{ rows: { answer: string }[] }>;
  end(): Promise<void>;
}

/** The driver, which `loadPeers` has installed. */
interface Driver {
  readonly Client: new (options: object) => Client;
}

const FIELDS = `json_build_object('key', key, 'name', name, 'category', category, 'position', json_build_object('lng', lng, 'lat', lat))`;
const inside = (west: number) => {
  const [w, s, e, n] = [0, 1, 2, 3].map((edge) => `$${west + edge}`);
  // The index rounds to floats of 32 bits; a comparison costs less than ST_Intersects.
  return `p && ST_MakeEnvelope(${w}, ${s}, ${e}, ${n}) AND lng BETWEEN ${w} AND ${e} AND lat BETWEEN ${s} AND ${n}`;
};
/** Of two rectangles, since a map may cross the antimeridian. */
const INSIDE = `(${inside(1)} OR ${inside(5)})`;
/** What each question is as one statement, prepared once by connection, that answers with JSON. */
const STATEMENTS: Readonly<Record<Kind, string>> = {
  markers: `SELECT coalesce(json_agg(${FIELDS}), '[]')::text AS answer
    FROM (SELECT * FROM cities WHERE ${INSIDE} LIMIT ${MOST.markers}) AS inside`,
  // Clusters as a grid, which is the cheapest form there is.
  auto: `WITH inside AS MATERIALIZED (SELECT * FROM cities WHERE ${INSIDE}), n AS (SELECT count(*) AS total FROM inside)
    SELECT json_build_object('total', (SELECT total FROM n),
      'markers', CASE WHEN (SELECT total FROM n) <= ${MOST.auto} THEN (SELECT json_agg(${FIELDS}) FROM inside) END,
      'clusters', CASE WHEN (SELECT total FROM n) > ${MOST.auto} THEN (SELECT json_agg(c) FROM (
        SELECT count(*) AS count, avg(lng) AS lng, avg(lat) AS lat FROM inside
        GROUP BY floor(x * $9::float8), floor(y * $9::float8)) AS c) END)::text AS answer`,
  count: `SELECT count(*)::text AS answer FROM cities WHERE ${INSIDE}`,
};

const copy = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.join('\t')).join('\n');

/** Loads the markers with a spatial index, clustered by it. */
export function fillPostgis({ sql }: Postgis, markers: readonly BenchMarker[]): void {
  const rows = markers.map(({ key, name, category, position: { lng, lat } }) => [
    key,
    (name ?? '').replaceAll('\\', '\\\\'),
    category,
    lng,
    lat,
    lngToX(lng, 0) / 512,
    latToY(Math.max(-85.05, Math.min(85.05, lat)), 0) / 512,
  ]);
  sql(`CREATE TABLE loaded (key text, name text, category text, lng float8, lat float8, x float8, y float8);
COPY loaded FROM STDIN;\n${copy(rows)}\n\\.
CREATE TABLE cities AS SELECT *, ST_Point(lng, lat) AS p FROM loaded ORDER BY ST_Point(lng, lat);
CREATE INDEX ON cities USING gist (p); VACUUM ANALYZE cities;`);
}

/** Opens this many connections. Each asks one question at a time. */
export async function askingPostgis({ socket }: Postgis, connections: number) {
  const { Client } = createRequire(new URL('../peer/package.json', import.meta.url))('pg') as Driver;
  const clients = await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new Client({ host: socket, user: 'bench', database: 'postgres' });
      await client.connect();
      return client;
    }),
  );
  const free = [...clients];
  return {
    ask: async (kind: Kind, view: View): Promise<Buffer> => {
      const client = free.pop();
      if (!client) throw new Error('more questions at once than connections');
      const [one, two = one] = rectanglesOf(view);
      if (!one || !two) throw new Error('a view has no area');
      const corners = [one, two].flatMap(({ west, south, east, north }) => [west, south, east, north]);
      const values = kind === 'auto' ? [...corners, (512 * 2 ** view.zoom) / RADIUS] : corners;
      const { rows } = await client.query({ name: kind, text: STATEMENTS[kind], values });
      free.push(client);
      return Buffer.from(rows[0]?.answer ?? '');
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.end()));
    },
  };
}

/** What an answer says. */
export function readPostgis(kind: Kind, text: string): Said {
  if (kind === 'count') return { count: Number(text) };
  const answer = JSON.parse(text) as PeerMarker[] | { readonly total: number; readonly markers: PeerMarker[] | null };
  if (Array.isArray(answer)) return saidOf(answer, MOST[kind]);
  return answer.total > MOST.auto ? { count: answer.total } : saidOf(answer.markers ?? [], Infinity);
}
