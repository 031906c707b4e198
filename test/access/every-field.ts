import type { Resolvers } from '../../src/graphql/generated.js';

type Read = 'Query' | 'Collection' | 'Marker' | 'Cell' | 'Cluster' | 'Zone' | 'Viewport' | 'ViewportPlan';
type Asked = Read | 'Mutation' | 'Subscription';
type Fields<T extends Asked> = Exclude<keyof NonNullable<Resolvers[T]>, '__isTypeOf'>;

const MARKERS = '{ nodes { key name properties place version } pageInfo { hasNextPage } }';
const CIRCLE = 'center: { lng: 10, lat: 50 }';
const SQUARE = '{ type: "Polygon", coordinates: [[[9, 49], [12, 49], [12, 52], [9, 52], [9, 49]]] }';
const FAR = '{ lng: 1, lat: 1 }';

/**
 * Every field that leads to something of the collection `KEY`, as an operation selects it: one that is added to the schema
 * and not here does not compile.
 */
export const EVERY_FIELD: { readonly [T in Asked]: Readonly<Record<Fields<T>, string>> } = {
  Query: {
    cell: `cell(collection: "KEY", geohash: "u0") { count markers ${MARKERS} }`,
    collection: 'collection(key: "KEY") { key name count }',
    collections: 'collections { nodes { key count } }',
    marker: 'marker(id: "marker::KEY::canary") { key properties }',
    markerByGlobalId: 'markerByGlobalId(globalId: "GLOBAL") { key properties }',
    node: 'node(id: "marker::KEY::canary") { id ... on Marker { properties } }',
    nodes: 'nodes(ids: ["collection::KEY", "marker::KEY::canary", "zone::KEY::area"]) { id }',
    search: 'search(text: "canary", collections: ["KEY"]) { totalCount edges { node { __typename } } }',
    viewer: 'viewer { roles }',
    viewport: 'viewport(bounds: { west: 9, south: 49, east: 12, north: 52 }, zoom: 5) { count(collection: "KEY") }',
  },
  Collection: {
    asOf: 'asOf',
    bounds: 'bounds { west }',
    code: 'code',
    count: 'count',
    countsExact: 'countsExact',
    createdAt: 'createdAt',
    description: 'description',
    geoIndex: 'geoIndex',
    globalIds: 'globalIds',
    id: 'id',
    idStrategy: 'idStrategy',
    inside: `inside(polygon: ${SQUARE}) ${MARKERS}`,
    key: 'key',
    mapProperties: 'mapProperties',
    marker: 'marker(key: "canary") { key properties }',
    markers: `markers(first: 100) ${MARKERS}`,
    markersIn: `markersIn(place: ["Town"]) ${MARKERS}`,
    name: 'name',
    nearest: `nearest(${CIRCLE}, count: 50) { distance node { key properties } }`,
    places: 'places { name count }',
    prefixLength: 'prefixLength',
    rankBy: 'rankBy',
    readingsBucket: 'readingsBucket',
    readingsSummarized: 'readingsSummarized',
    readingsTable: 'readingsTable',
    readingsTtlDays: 'readingsTtlDays',
    source: 'source { state }',
    updatedAt: 'updatedAt',
    version: 'version',
    within: `within(${CIRCLE}, radius: 500000) ${MARKERS}`,
    writeShards: 'writeShards',
    zone: 'zone(key: "area") { key }',
    zones: 'zones { nodes { key } }',
    zonesAt: 'zonesAt(point: { lng: 10, lat: 50 }) { key }',
  },
  Marker: {
    category: 'category',
    cell: 'cell(precision: 3) { count }',
    collection: 'collection { key count }',
    createdAt: 'createdAt',
    geohash: 'geohash',
    geojson: 'geojson',
    globalId: 'globalId',
    id: 'id',
    key: 'key',
    name: 'name',
    place: 'place',
    position: 'position { lng lat }',
    properties: 'properties',
    readings: 'readings { values }',
    readingSummaries: 'readingSummaries(value: "a", from: "2026-01-01T00:00:00Z") { summaries { count } }',
    updatedAt: 'updatedAt',
    version: 'version',
  },
  Cell: {
    bounds: 'bounds { west }',
    center: 'center { lng }',
    centroid: 'centroid { lng lat }',
    children: 'children { geohash count }',
    count: 'count',
    geohash: 'geohash',
    markers: `markers ${MARKERS}`,
    parent: 'parent { count }',
    precision: 'precision',
  },
  Cluster: {
    bounds: 'bounds { west }',
    count: 'count',
    expansionZoom: 'expansionZoom',
    geohashes: 'geohashes',
    marker: 'marker { key properties }',
    position: 'position { lng lat }',
  },
  Zone: {
    bounds: 'bounds { west }',
    collection: 'collection { key }',
    count: 'count',
    geometry: 'geometry',
    geometrySource: 'geometrySource',
    id: 'id',
    key: 'key',
    markers: `markers ${MARKERS}`,
    name: 'name',
    properties: 'properties',
    version: 'version',
  },
  Viewport: {
    auto: 'auto(collection: "KEY", limit: 3) { mode total clusters { count } markers { key } }',
    bounds: 'bounds { west }',
    cells: 'cells(collection: "KEY") { geohash count }',
    clusters: 'clusters(collection: "KEY") { count }',
    count: 'count(collection: "KEY")',
    features: 'features(collection: "KEY")',
    markers: `markers(collection: "KEY") ${MARKERS}`,
    plan: 'plan(collection: "KEY") { precision }',
    precision: 'precision',
    zones: 'zones(collection: "KEY") { nodes { key } }',
    zoom: 'zoom',
  },
  ViewportPlan: {
    precision: 'precision',
    ranges: 'ranges { pk from to index bounds { west } }',
    readUnits: 'readUnits',
    requests: 'requests',
    source: 'source',
  },
  Mutation: {
    createCollection: 'createCollection(input: { key: "KEY", name: "x" }) { key }',
    createMarker: `createMarker(input: { collection: "KEY", key: "new", position: ${FAR} }) { key }`,
    createMarkers: `createMarkers(collection: "KEY", markers: [{ key: "more", position: ${FAR} }]) { failures { code } }`,
    createZone: `createZone(input: { collection: "KEY", key: "new", geometry: ${SQUARE} }) { key }`,
    deleteCollection: 'deleteCollection(key: "KEY") { key }',
    deleteMarker: 'deleteMarker(id: "marker::KEY::canary") { properties }',
    deleteMarkers: 'deleteMarkers(ids: ["marker::KEY::canary"]) { deleted failures { code } }',
    deleteZone: 'deleteZone(id: "zone::KEY::area") { key }',
    recordReadings: 'recordReadings(marker: "marker::KEY::canary", readings: [{ values: { a: 1 } }])',
    updateCollection: 'updateCollection(input: { key: "KEY", name: "y" }) { name }',
    updateMarker: 'updateMarker(input: { id: "marker::KEY::canary", name: "canary" }) { properties }',
    updateZone: 'updateZone(input: { id: "zone::KEY::area", name: "y" }) { properties }',
    upsertMarkers: `upsertMarkers(collection: "KEY", markers: [{ key: "canary", position: ${FAR} }]) { created failures { code } }`,
  },
  Subscription: {
    markerChanged: 'markerChanged(collection: "KEY") { kind }',
    readingRecorded: 'readingRecorded(marker: "marker::KEY::canary") { at }',
  },
};

const VIEW = 'viewport(bounds: { west: 9, south: 49, east: 12, north: 52 }, zoom: 5)';
/** How queries get to an object of a type. */
const WAY: Readonly<Record<Read, (fields: string) => string>> = {
  Query: (fields) => fields,
  Collection: (fields) => `collection(key: "KEY") { ${fields} }`,
  Marker: (fields) => `collection(key: "KEY") { markers(first: 100) { nodes { ${fields} } } }`,
  Cell: (fields) => `cell(collection: "KEY", geohash: "u0") { ${fields} }`,
  Cluster: (fields) => `${VIEW} { clusters(collection: "KEY", radius: 5) { ${fields} } }`,
  Zone: (fields) => `collection(key: "KEY") { zone(key: "area") { ${fields} } }`,
  Viewport: (fields) => `${VIEW} { ${fields} }`,
  ViewportPlan: (fields) => `${VIEW} { plan(collection: "KEY") { ${fields} } }`,
};

/** A query for every field of each type, of the collection with a key; `globalId` is that of its marker `canary`. */
export const everyQuery = (key: string, globalId: string): readonly (readonly [type: string, query: string])[] =>
  (Object.keys(WAY) as (keyof typeof WAY)[]).map((type) => {
    const fields = Object.values(EVERY_FIELD[type]).join('\n');
    return [type, `query ${type} { ${WAY[type](fields)} }`.replaceAll('KEY', key).replaceAll('GLOBAL', globalId)];
  });

export const everyMutation = (key: string): readonly (readonly [field: string, mutation: string])[] =>
  Object.entries(EVERY_FIELD.Mutation).map(([field, text]) => [field, `mutation { ${text} }`.replaceAll('KEY', key)]);

export const everySubscription = (key: string): readonly string[] =>
  Object.values(EVERY_FIELD.Subscription).map((text) => `subscription { ${text} }`.replaceAll('KEY', key));
