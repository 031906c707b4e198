import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLSchema,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import { buildSchema } from '../../src/graphql/schema.js';
import { placeParent } from '../../src/model/cell.js';
import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import type { SearchEngine } from '../../src/search/engine.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { addCells } from '../support/add-cells.js';
import { addAllPages } from '../support/add-pages.js';
import { testPages } from '../support/page-services.js';
import { expectRfc7946 } from '../support/rfc7946.js';
import { variants } from '../support/rounds.js';
import { rectangle } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testDatabase } from '../support/test-database.js';
import { fillCells, startServer, type LiveServer } from './live-server.js';

/** Three close together in Berlin, one in Hamburg, one on the antimeridian. */
const PLACES = [
  {
    key: 'zoo',
    position: { lng: 13.3377, lat: 52.5085 },
    name: 'Zoo',
    category: 'park',
    properties: { size: 33, open: true },
    place: ['Berlin', 'Mitte'],
  },
  {
    key: 'tiergarten',
    position: { lng: 13.35, lat: 52.5145 },
    name: 'Tiergarten',
    category: 'park',
    properties: { size: 210 },
  },
  {
    key: 'kranzler',
    position: { lng: 13.332, lat: 52.5035 },
    name: 'Kranzler',
    category: 'cafe',
    properties: { note: 'x'.repeat(1_000) },
  },
  {
    key: 'planten',
    position: { lng: 9.982, lat: 53.5605 },
    name: 'Planten un Blomen',
    category: 'park',
    properties: { size: 47 },
  },
  { key: 'taveuni', position: { lng: 180, lat: -16.85 }, name: null, category: null, properties: {} },
];

const CREATE = `
  mutation Create($collection: CreateCollectionInput!, $one: CreateMarkerInput!, $key: String!, $others: [MarkerInput!]!) {
    createCollection(input: $collection) {
      id key name description idStrategy globalIds mapProperties rankBy prefixLength writeShards version createdAt updatedAt count
      countsExact code readingsTtlDays readingsBucket readingsTable readingsSummarized geoIndex asOf source {state}
      bounds {west}
    }
    createMarker(input: $one) {id key globalId version}
    createMarkers(collection: $key, markers: $others) {markers {key} failures {index code message}}
    upsertMarkers(collection: $key, markers: $others) {created updated unchanged failures {index code message}}
    recordReadings(marker: "marker::places::zoo", readings: [{at: "2026-11-21T09:30:00Z", values: {visitors: 12}}])
  }`;

const CHANGE = `
  mutation Change($update: UpdateMarkerInput!, $gone: ID!, $version: Int) {
    updateMarker(input: $update) {...M}
    deleteMarker(id: $gone, expectedVersion: $version) {...M}
    deleteMarkers(ids: []) { deleted failures { index } }
  }`;

const COLLECTIONS = `
  mutation Collections($update: UpdateCollectionInput!, $gone: String!) {
    updateCollection(input: $update) {key name description version}
    deleteCollection(key: $gone) {key name}
  }`;

const ZONES = `
  mutation Zones($one: CreateZoneInput!, $update: UpdateZoneInput!, $gone: ID!, $other: CreateZoneInput!) {
    createZone(input: $one) {...Z}
    other: createZone(input: $other) {id}
    updateZone(input: $update) {...Z}
    deleteZone(id: $gone, expectedVersion: 1) {id name}
  }`;

const READ_ZONES = `
  query ReadZones($key: String!, $id: ID!, $bounds: BoundsInput!, $point: PointInput!) {
    viewer {name roles may {collections actions filtered}}
    node(id: $id) {__typename id ...Z}
    nodes(ids: [$id, "zone::places::no"]) {__typename id}
    collection(key: $key) {
      zone(key: "tiergarten") {...Z}
      zones(first: 1) {edges {cursor node {key}} nodes {key} pageInfo {hasNextPage hasPreviousPage startCursor endCursor shortBecause}}
      zonesAt(point: $point) {key}
    }
    viewport(bounds: $bounds, zoom: 8) {zones(collection: $key, first: 5) {edges {cursor} nodes {key} pageInfo {hasNextPage}}}
  }`;

const ZONE = `
  fragment Z on Zone {
    id key collection {key} name properties bounds {west south east north} geometry simple: geometry(maxVertices: 4) coarse: geometry(tolerance: 0.004) geometrySource version
    count markers(first: 2) {nodes {key} pageInfo {hasNextPage}}
  }`;

const MARKER = `
  fragment M on Marker {
    id key globalId collection {key} position {lng lat} geohash name category properties place version createdAt updatedAt geojson
    cell(precision: 4) {geohash count} readings {at values}
  }`;

const READ = `
  query Read($key: String!, $id: ID!, $globalId: ID!, $ids: [ID!]!, $geohash: Geohash!) {
    markerByGlobalId(globalId: $globalId) {
      id
      readingSummaries(value: "visitors", from: "2026-11-21T00:00:00Z") {summaries {start count min max mean} next shortBecause}
    }
    node(id: $id) {__typename id ...M}
    nodes(ids: $ids) {__typename id}
    marker(id: $id) {...M}
    collections(first: 10) {
      edges {cursor node {key}} nodes {key}
      pageInfo {hasNextPage hasPreviousPage startCursor endCursor}
    }
    collection(key: $key) {
      count countsExact bounds {west south east north}
      marker(key: "zoo") {...M}
      markers(first: 2) {edges {cursor node {key}} nodes {key} pageInfo {hasNextPage hasPreviousPage startCursor endCursor}}
      markersIn(place: ["Berlin"], first: 5) {nodes {key place} edges {cursor} pageInfo {hasNextPage endCursor}}
      places(under: ["Berlin"]) {name place count}
      within(center: {lng: 13.34, lat: 52.51}, radius: 300000, first: 3) {
        edges {cursor distance node {key}} nodes {key} pageInfo {hasNextPage hasPreviousPage startCursor endCursor}
      }
      nearest(center: {lng: -179, lat: -17}, count: 1) {cursor distance node {key}}
      inside(polygon: {type: "Polygon", coordinates: [[[13, 52], [14, 52], [13.5, 53], [13, 52]]]}) {nodes {key} pageInfo {hasNextPage}}
      filtered: markers(filter: {category: ["cafe"]}) {nodes {key}}
    }
    cell(collection: $key, geohash: $geohash) {
      geohash precision count bounds {west south east north} center {lng lat} centroid {lng lat}
      parent {geohash count parent {geohash parent {geohash parent {geohash}}}}
      children {geohash count}
      markers(first: 10) {nodes {key}}
    }
  } ${MARKER}`;

const VIEWPORT = `
  query Map($key: String!, $bounds: BoundsInput!, $zoom: Float!) {
    viewport(bounds: $bounds, zoom: $zoom) {
      bounds {west south east north} zoom precision
      markers(collection: $key) {nodes {...M} pageInfo {hasNextPage}}
      cells(collection: $key, precision: 5) {geohash count}
      clusters(collection: $key) {position {lng lat} bounds {west south east north} geohashes count expansionZoom marker {key}}
      count(collection: $key)
      auto(collection: $key, limit: 3) {mode total markers {key} clusters {count} precision}
      few: auto(collection: $key, limit: 2) {mode total markers {key} clusters {count}}
      features(collection: $key)
      plan(collection: $key) {precision source requests readUnits ranges {index pk from to bounds {west south east north}}}
    }
  } ${MARKER}`;

/** `Type.field` of everything that the documents select. */
function asked(schema: GraphQLSchema, documents: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const document of documents) {
    const types = new TypeInfo(schema);
    visit(
      parse(document),
      visitWithTypeInfo(types, {
        Field: () => void found.add(`${types.getParentType()?.name}.${types.getFieldDef()?.name}`),
      }),
    );
  }
  return found;
}

test('every field of every type is queried below', () => {
  const schema = buildSchema();
  const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !isIntrospectionType(type)
      ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`)
      : [],
  );
  const found = asked(schema, [CREATE, CHANGE + MARKER, COLLECTIONS, READ, VIEWPORT, ZONES + ZONE, READ_ZONES + ZONE]);
  // Subscriptions, search and sources have their own tests.
  const others = /^(Subscription|MarkerChange|Reading|SearchConnection|SearchEdge|CollectionSource)\.|^Query\.search$/;
  expect(fields.filter((field) => !found.has(field) && !others.test(field))).toEqual([]);
});

describe.each(variants(['readable', 'compact'] as const))('with %s keys', async (style) => {
  const db = await testDatabase(style);
  const folder = temporaryFolder();
  let index: SearchEngine;
  let server: LiveServer;
  beforeAll(async () => {
    // Nothing is found in it: search has its own tests.
    index = await openEmbeddedEngine({ folder, table: db.tables.entities, maxBytes: 2 ** 26 }, () => Date.now());
    const search = {
      open: () => index,
      hasRead: () => true,
      status: { state: 'following', read: 0, reason: null },
    } as const;
    server = await startServer(db, { ...testPages({ trusted: true }), search });
  });
  afterAll(async () => {
    await server.close();
    await index.close();
  });

  const key = 'places';
  const id = 'marker::places::zoo';
  const [zoo, ...others] = PLACES;
  const keysOf = (nodes: { key: string }[]) => nodes.map((node) => node.key).sort();

  test('created objects are returned as they were given, by every query', async () => {
    const collection = {
      key,
      name: 'Places',
      description: 'Places to be',
      idStrategy: 'GIVEN',
      globalIds: true,
      mapProperties: ['size'],
      rankBy: 'size',
      prefixLength: 2,
      writeShards: 1,
      code: 'Pl',
      readingsTtlDays: null,
      readingsBucket: 'NONE',
      readingsTable: 'SHARED',
      readingsSummarized: false,
      geoIndex: true,
    };
    const created = await server.ask(CREATE, { collection, one: { collection: key, ...zoo }, key, others });
    expect(created.errors).toEqual([]);
    expect(created.data.createCollection).toEqual({
      id: 'collection::places',
      ...collection,
      version: 1,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: created.data.createCollection.createdAt,
      count: 0,
      countsExact: true,
      asOf: '1970-01-01T00:00:00.000Z',
      source: null,
      bounds: null,
    });
    const { globalId } = created.data.createMarker;
    expect(created.data.createMarker).toEqual({
      id,
      key: 'zoo',
      version: 1,
      globalId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(created.data.recordReadings).toBe(1);
    expect(created.data.createMarkers).toEqual({
      markers: others.map((marker) => ({ key: marker.key })),
      failures: [],
    });
    expect(created.data.upsertMarkers).toEqual({ created: 0, updated: 0, unchanged: others.length, failures: [] });
    const [stored] = await getCollections(newCall(db), [key]);
    await fillCells(db, stored!, PLACES);
    await addAllPages(db, stored!);
    const mitte = [placeParent(['Berlin', 'Mitte']), new Map([['', { count: 1, sumLng: 0, sumLat: 0 }]])] as const;
    await addCells(db, db.keys.scope(stored!), 1, new Map([mitte]));
    server.services.cellCache.clear();

    const geohash = encode({ lng: 13.3377, lat: 52.5085 }, 4);
    const { data, errors } = await server.ask(READ, {
      key,
      id,
      globalId,
      ids: [id, 'collection::places', 'marker::places::no'],
      geohash,
    });
    expect(errors).toEqual([]);
    const marker = {
      id,
      key: 'zoo',
      globalId,
      collection: { key },
      position: zoo!.position,
      geohash: encode(zoo!.position, 10),
      name: 'Zoo',
      category: 'park',
      properties: zoo!.properties,
      place: ['Berlin', 'Mitte'],
      version: 1,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      geojson: {
        type: 'Feature',
        id,
        geometry: { type: 'Point', coordinates: [13.3377, 52.5085] },
        properties: { ...zoo!.properties, key: 'zoo', name: 'Zoo', category: 'park' },
      },
      cell: { geohash, count: 3 },
      readings: [{ at: '2026-11-21T09:30:00.000Z', values: { visitors: 12 } }],
    };
    const summaries = [{ start: '2026-11-21T00:00:00.000Z', count: 1, min: 12, max: 12, mean: 12 }];
    expect(data.markerByGlobalId).toEqual({ id, readingSummaries: { summaries, next: null, shortBecause: null } });
    expect(data.node).toEqual({ __typename: 'Marker', ...marker });
    expect(data.marker).toEqual(marker);
    expectRfc7946(JSON.stringify(data.marker.geojson));
    expect(data.collection.marker).toEqual(marker);
    expect(data.nodes).toEqual([
      { __typename: 'Marker', id },
      { __typename: 'Collection', id: 'collection::places' },
      null,
    ]);
    expect(data.collections).toMatchObject({
      nodes: [{ key }],
      edges: [{ node: { key } }],
      pageInfo: { hasNextPage: false },
    });
    expect(data.collection.count).toBe(5);
    expect(data.collection.markers.nodes).toHaveLength(2);
    expect(data.collection.markers.edges[1].cursor).toBe(data.collection.markers.pageInfo.endCursor);
    expect(data.collection.markers.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    expect(data.collection.markersIn.nodes).toEqual([{ key: 'zoo', place: ['Berlin', 'Mitte'] }]);
    expect(data.collection.places).toEqual([{ name: 'Mitte', place: ['Berlin', 'Mitte'], count: 1 }]);
    const { within, nearest, inside } = data.collection;
    expect(keysOf(within.nodes)).toEqual(['kranzler', 'tiergarten', 'zoo']);
    const distances = within.edges.map((edge: { distance: number }) => edge.distance);
    expect(distances).toEqual(distances.toSorted((a: number, b: number) => a - b));
    expect(within.pageInfo).toMatchObject({ hasNextPage: true, endCursor: within.edges[2].cursor });
    // Across the antimeridian: a degree of longitude and some minutes of latitude.
    expect(nearest).toMatchObject([{ distance: expect.closeTo(107_700, -3), node: { key: 'taveuni' } }]);
    expect(keysOf(inside.nodes)).toEqual(['kranzler', 'tiergarten', 'zoo']);
    expect(data.collection.filtered.nodes).toEqual([{ key: 'kranzler' }]);
    const { bounds, center, centroid, ...cell } = data.cell;
    expect(cell).toMatchObject({ geohash, precision: 4, count: 3, parent: { geohash: geohash.slice(0, 3), count: 3 } });
    expect(data.cell.parent.parent.parent).toEqual({ geohash: geohash.slice(0, 1), parent: null });
    expect(cell.children.reduce((sum: number, child: { count: number }) => sum + child.count, 0)).toBe(3);
    expect(keysOf(cell.markers.nodes)).toEqual(['kranzler', 'tiergarten', 'zoo']);
    expect(center).toEqual({ lng: (bounds.west + bounds.east) / 2, lat: (bounds.south + bounds.north) / 2 });
    expect(centroid.lng).toBeCloseTo((13.3377 + 13.35 + 13.332) / 3, 5);
    expect(centroid.lat).toBeCloseTo((52.5085 + 52.5145 + 52.5035) / 3, 5);
  });

  test('a viewport returns exactly the markers inside it', async () => {
    const bounds = { west: 13.2, south: 52.4, east: 13.5, north: 52.6 };
    const { data, errors } = await server.ask(VIEWPORT, { key, bounds, zoom: 8 });
    expect(errors).toEqual([]);
    const { viewport } = data;
    expect([viewport.bounds, viewport.zoom]).toEqual([bounds, 8]);
    expect(keysOf(viewport.markers.nodes)).toEqual(['kranzler', 'tiergarten', 'zoo']);
    // Read from the base item, because the index does not project a note of 1,000 characters.
    const kranzler = viewport.markers.nodes.find((node: { key: string }) => node.key === 'kranzler');
    expect(kranzler.properties).toEqual({ note: 'x'.repeat(1_000) });
    expect(viewport.count).toBe(3);
    expect(viewport.cells.reduce((sum: number, cell: { count: number }) => sum + cell.count, 0)).toBe(3);
    for (const { geohashes } of viewport.clusters) expect(geohashes.length).toBeGreaterThan(0);
    const inBerlin = viewport.clusters.filter((cluster: { bounds: { west: number } }) => cluster.bounds.west > 11);
    expect(inBerlin).toEqual([
      expect.objectContaining({
        count: 3,
        marker: null,
        position: { lng: expect.closeTo(13.34, 2), lat: expect.closeTo(52.51, 2) },
      }),
    ]);
    expect(inBerlin[0].expansionZoom).toBeGreaterThan(8);
    expect(viewport.auto).toMatchObject({ mode: 'MARKERS', total: 3, clusters: [] });
    expect(keysOf(viewport.auto.markers)).toEqual(['kranzler', 'tiergarten', 'zoo']);
    expect(viewport.few).toMatchObject({ mode: 'CLUSTERS', total: 3, markers: [] });
    expect(viewport.features).toMatchObject({
      type: 'FeatureCollection',
      features: expect.arrayContaining([expect.objectContaining({ type: 'Feature' })]),
    });
    expect(viewport.features.features).toHaveLength(3);
    expectRfc7946(JSON.stringify(viewport.features));
    expect(viewport.plan.ranges.length).toBeGreaterThan(0);
    for (const range of viewport.plan.ranges) expect(range.from <= range.to).toBe(true);
  });

  test('zones are found by key, by a point inside and by viewport, and can be updated and deleted', async () => {
    const own = { key: 'tiergarten', name: 'Tiergarten', properties: { size: 210 } };
    const geometry = rectangle(13.33, 52.5, 13.375, 52.52);
    const changed = await server.ask(ZONES + ZONE, {
      one: { collection: key, ...own, geometry },
      other: { collection: key, key: 'gone', name: 'Gone', geometry: rectangle(10, 50, 11, 51) },
      update: { id: 'zone::places::tiergarten', name: 'Großer Tiergarten', expectedVersion: 1 },
      gone: 'zone::places::gone',
    });
    expect(changed.errors).toEqual([]);
    const zone = {
      id: 'zone::places::tiergarten',
      ...own,
      collection: { key },
      bounds: { west: 13.33, south: 52.5, east: 13.375, north: 52.52 },
      geometry,
      simple: { type: 'Polygon', coordinates: [expect.objectContaining({ length: 4 })] },
      coarse: rectangle(13.33, 52.5, 13.376, 52.52),
      geometrySource: null,
      count: expect.any(Number),
      markers: {
        nodes: [{ key: expect.any(String) }, { key: expect.any(String) }],
        pageInfo: { hasNextPage: true },
      },
      version: 1,
    };
    const renamed = { ...zone, name: 'Großer Tiergarten', version: 2 };
    expect(changed.data).toEqual({
      createZone: zone,
      other: { id: 'zone::places::gone' },
      updateZone: renamed,
      deleteZone: { id: 'zone::places::gone', name: 'Gone' },
    });
    const bounds = { west: 13.2, south: 52.4, east: 13.5, north: 52.6 };
    const point = { lng: 13.35, lat: 52.5145 };
    const { data, errors } = await server.ask(READ_ZONES + ZONE, { key, id: zone.id, bounds, point });
    expect(errors).toEqual([]);
    expect(data.node).toEqual({ __typename: 'Zone', ...renamed });
    expect(data.nodes).toEqual([{ __typename: 'Zone', id: zone.id }, null]);
    expect(data.collection.zone).toEqual(renamed);
    expect(data.collection.zonesAt).toEqual([{ key: 'tiergarten' }]);
    expect(data.viewport.zones).toMatchObject({ nodes: [{ key: 'tiergarten' }], pageInfo: { hasNextPage: false } });
    const [edge] = data.collection.zones.edges;
    expect(data.collection.zones).toEqual({
      edges: [{ cursor: edge.cursor, node: { key: 'tiergarten' } }],
      nodes: [{ key: 'tiergarten' }],
      pageInfo: {
        hasNextPage: false,
        hasPreviousPage: false,
        startCursor: edge.cursor,
        endCursor: edge.cursor,
        shortBecause: null,
      },
    });
  });

  test('a viewport across the antimeridian finds a marker on it from both sides, and returns it unchanged', async () => {
    for (const [west, east] of [
      [170, 190],
      [170, 180],
      [-180, -170],
      [-190, -170],
    ] as const) {
      const { data, errors } = await server.ask(VIEWPORT, {
        key,
        bounds: { west, south: -20, east, north: -10 },
        zoom: 6,
      });
      expect(errors).toEqual([]);
      expect(data.viewport.markers.nodes).toMatchObject([
        { key: 'taveuni', position: { lng: 180, lat: -16.85 }, name: null, category: null },
      ]);
      expect(data.viewport.count).toBe(1);
      expect(data.viewport.clusters).toMatchObject([{ count: 1, marker: { key: 'taveuni' } }]);
    }
  });

  test('every field of a marker, a collection and a cell has the same value in a compiled query', async () => {
    const fields = READ.replace('$ids: [ID!]!, ', '')
      .replace(/^ *nodes?\(.*$/gm, '')
      .replace(/collections\([^]*?\n    }/, '');
    const before = server.compared.same;
    const { errors } = await server.ask(fields, { key, id, globalId: 'none', geohash: 'u33d' });
    expect([errors, server.compared.same]).toEqual([[], before + 1]);
  });

  test('both executors give the same answers to the examples of GraphiQL', async () => {
    const folder = join(import.meta.dirname, '../../web/graphiql/examples');
    const examples = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.graphql'))
      .map((file) => readFileSync(join(folder, file), 'utf8'));
    const queries = examples
      .filter((text) => !/^(mutation|subscription)\b/m.test(text))
      .map((text) => text.replaceAll(/cities|countries/g, key));
    const { same, interpretedOnly } = server.compared;
    for (const text of queries) expect((await server.ask(text)).errors).toEqual([]);
    expect(server.compared.same - same + server.compared.interpretedOnly - interpretedOnly).toBe(queries.length);
    expect(server.compared.same - same).toBeGreaterThan(7);
  });

  test('updates and deletions return the marker, and are visible at once', async () => {
    const update = { id: 'marker::places::planten', name: null, position: { lng: 10, lat: 53.6 }, expectedVersion: 1 };
    const gone = 'marker::places::kranzler';
    const { data, errors } = await server.ask(CHANGE + MARKER, { update, gone });
    expect(errors).toEqual([]);
    expect(data.updateMarker).toMatchObject({ key: 'planten', name: null, category: 'park', version: 2 });
    expect(data.updateMarker).toMatchObject({ position: update.position, geohash: encode(update.position, 10) });
    expect(data.deleteMarker).toMatchObject({ key: 'kranzler', version: 1, properties: { note: 'x'.repeat(1_000) } });
    const after = await server.ask(`{changed: marker(id: "${update.id}") {version} gone: marker(id: "${gone}") {id}}`);
    expect(after.data).toEqual({ changed: { version: 2 }, gone: null });
    const again = await server.ask(CHANGE + MARKER, { update, gone });
    expect(again.errors[0]).toMatchObject({
      path: ['updateMarker'],
      extensions: { code: 'CONFLICT', expectedVersion: 1, version: 2 },
    });
  });

  test('a collection can be updated; a deleted one disappears at once with its contents, and its key stays reserved', async () => {
    const make = `mutation {
      createCollection(input: {key: "short-lived", name: "S", code: "Sl"}) {key}
      createMarker(input: {collection: "short-lived", key: "m", position: {lng: 1, lat: 2}}) {id}
    }`;
    expect((await server.ask(make)).errors).toEqual([]);
    const update = { key, description: null, name: 'Other places', expectedVersion: 1 };
    const { data, errors } = await server.ask(COLLECTIONS, { update, gone: 'short-lived' });
    expect(errors).toEqual([]);
    expect(data.updateCollection).toEqual({ key, name: 'Other places', description: null, version: 2 });
    expect(data.deleteCollection).toEqual({ key: 'short-lived', name: 'S' });
    const after = await server.ask(`{
      collection(key: "${key}") {name version}
      gone: collection(key: "short-lived") {key}
      node(id: "collection::short-lived") {id}
      marker(id: "marker::short-lived::m") {id}
      collections {nodes {key}}
    }`);
    expect(after.data).toEqual({
      collection: { name: 'Other places', version: 2 },
      gone: null,
      node: null,
      marker: null,
      collections: { nodes: [{ key }] },
    });
    const late = await server.ask(make);
    expect(late.errors.map(({ extensions }) => extensions['code'])).toEqual(['CONFLICT']);
    const stale = await server.ask(COLLECTIONS, { update, gone: 'short-lived' });
    expect(stale.errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', expectedVersion: 1, version: 2 });
    const write = `mutation {createMarker(input: {collection: "short-lived", key: "n", position: {lng: 1, lat: 2}}) {id}}`;
    expect((await server.ask(write)).errors[0]?.extensions).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('no internal error was logged', () => {
    expect(server.logged).toEqual([]);
  });
});
