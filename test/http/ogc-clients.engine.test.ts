import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bruteInside, makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { hasModules, python } from '../support/python.js';
import { startServer, type LiveServer } from './live-server.js';

const hasClients = await hasModules('pyogrio', 'owslib');

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

  test('OWSLib finds the API, its collection, a page of items and an item', async () => {
    const found = (await python(OWS, `${server.url}/ogc`)) as Record<string, unknown>;
    expect(found).toMatchObject({ collections: ['cities'], extent: [[-180, -90, 180, 90]], returned: 5 });
    expect(found['conformance']).toHaveLength(4);
    expect(found['openapi']).toMatch(/^3\.0/);
    expect(found['item']).toBe(found['first']);
  });
});
