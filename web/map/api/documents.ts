import type { Bounds } from '../../../src/client/public.js';
import { VIEWER_FIELDS } from '../../access/viewer.js';

// The operations of the page, in addition to those of the client. test/web/map.browser.test.ts validates them against the schema.

export { VIEWER } from '../../access/viewer.js';

/** A collection as the list of layers shows it. */
export interface Collection {
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly idStrategy: 'GIVEN' | 'SEQUENCE' | 'UUID';
  /** Time of creation. */
  readonly createdAt: string;
  readonly count: number;
  readonly zones: { readonly nodes: readonly { readonly id: string }[] };
}

const COLLECTION = `key name description idStrategy createdAt count
  zones(first: 1) { nodes { id } }`;

/** A page of collections, and who asks. */
export const COLLECTIONS = `query Collections($after: String) {
  ${VIEWER_FIELDS}
  collections(first: 50, after: $after) { nodes { ${COLLECTION} } pageInfo { hasNextPage endCursor } }
}`;

/** The same page with only the cheap fields. */
export const COUNTS = `query Counts($after: String) {
  ${VIEWER_FIELDS}
  collections(first: 50, after: $after) { nodes { key name count } pageInfo { hasNextPage endCursor } }
}`;

/** The collections with these IDs. */
export const COLLECTION_DETAILS = `query CollectionDetails($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Collection { ${COLLECTION} } }
}`;

/** What a collection covers; it is read for one only where it is needed, as it may take many reads. */
export const BOUNDS = `query Bounds($key: String!) {
  collection(key: $key) { bounds { west south east north } }
}`;

export const CREATE_COLLECTION = `mutation CreateCollection($input: CreateCollectionInput!) {
  createCollection(input: $input) { ${COLLECTION} }
}`;

export interface Reading {
  readonly at: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A marker with every field that can be changed. */
export interface Marker {
  readonly id: string;
  readonly key: string;
  readonly name: string | null;
  readonly category: string | null;
  readonly position: { readonly lng: number; readonly lat: number };
  readonly properties: Readonly<Record<string, unknown>>;
  readonly place: readonly string[];
  readonly version: number;
}

/** The marker nearest to a position; `distance` is in meters. */
export interface Nearest {
  readonly distance: number;
  readonly node: Pick<Marker, 'name' | 'key' | 'position'>;
}

export const NEAREST = `query Nearest($key: String!, $center: PointInput!) {
  collection(key: $key) { nearest(center: $center, count: 1) { distance node { name key position { lng lat } } } }
}`;

/** The world's non-empty cells, at most 1,024. */
export const COARSE_CELLS = `query CoarseCells($key: String!) {
  viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 0) {
    cells(collection: $key, precision: 2) { geohash count center { lat } }
  }
}`;

/** The children of three cells. */
export const CHILDREN = `query Children($key: String!, $a: Geohash!, $b: Geohash!, $c: Geohash!) {
  a: cell(collection: $key, geohash: $a) { children { geohash count center { lat } } }
  b: cell(collection: $key, geohash: $b) { children { geohash count center { lat } } }
  c: cell(collection: $key, geohash: $c) { children { geohash count center { lat } } }
}`;

/** The markers within the bounds of a cluster, possibly including those of others. */
export const LARGEST = `query Largest($key: String!, $bounds: BoundsInput!, $filter: MarkerFilter) {
  collection(key: $key) { mapProperties }
  viewport(bounds: $bounds, zoom: 0) {
    markers(collection: $key, first: 1000, filter: $filter) {
      nodes { key name category position { lng lat } properties }
      pageInfo { hasNextPage }
    }
  }
}`;

const MARKER = `id key name category position { lng lat } properties place version`;

export interface MarkerDetails extends Marker {
  readonly collection: { readonly key: string; readonly name: string };
  readonly readings: readonly Reading[];
}

export const DETAILS = `query Details($id: ID!) {
  marker(id: $id) { ${MARKER} collection { key name } readings(last: 60) { at values } }
}`;

/** A zone with everything shown on its card. */
export interface ZoneDetails {
  readonly id: string;
  readonly key: string;
  readonly name: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly collection: { readonly key: string; readonly name: string };
  readonly bounds: Bounds;
  readonly geometry: GeoJSON.Geometry | null;
}

export const ZONE = `query Zone($id: ID!, $tolerance: Float!) {
  node(id: $id) {
    ... on Zone {
      id key name properties collection { key name } bounds { west south east north } geometry(tolerance: $tolerance)
    }
  }
}`;

/** The number of markers of up to three collections inside a zone. */
export const ZONE_COUNTS = `query ZoneCounts($id: ID!, $a: String, $b: String, $c: String, $hasB: Boolean!, $hasC: Boolean!) {
  node(id: $id) {
    ... on Zone {
      a: count(collection: $a)
      b: count(collection: $b) @include(if: $hasB)
      c: count(collection: $c) @include(if: $hasC)
    }
  }
}`;

export const READINGS = `subscription Readings($id: ID!) { readingRecorded(marker: $id) { at } }`;

export const CREATE = `mutation Create($input: CreateMarkerInput!) { createMarker(input: $input) { ${MARKER} } }`;
export const UPDATE = `mutation Update($input: UpdateMarkerInput!) { updateMarker(input: $input) { ${MARKER} } }`;
export const DELETE = `mutation Delete($id: ID!, $expectedVersion: Int) {
  deleteMarker(id: $id, expectedVersion: $expectedVersion) { ${MARKER} collection { key } }
}`;

export const UPSERT = `mutation Upsert($collection: String!, $markers: [MarkerInput!]!) {
  upsertMarkers(collection: $collection, markers: $markers) { created updated unchanged failures { index message } }
}`;

/** A search result. */
export type Found =
  | (Pick<Marker, 'id' | 'key' | 'name' | 'category' | 'position'> & InCollection<'Marker'>)
  | (Pick<ZoneDetails, 'id' | 'key' | 'name' | 'bounds'> & InCollection<'Zone'>)
  | { readonly __typename: 'Collection'; readonly key: string };

interface InCollection<T> {
  readonly __typename: T;
  readonly collection: { readonly name: string };
}

interface FoundEdges {
  readonly edges: readonly { readonly score: number; readonly node: Found }[];
}

export interface SearchAnswer {
  readonly inView: FoundEdges;
  readonly all: FoundEdges & { readonly totalCount: number };
}

const FOUND = `edges {
    score
    node {
      __typename
      ... on Marker { id key name category position { lng lat } collection { name } }
      ... on Zone { id key name bounds { west south east north } collection { name } }
      ... on Collection { key }
    }
  }`;

/**
 * The best matches in view and everywhere. Not ordered by `near`, which uses distance alone: a nearby hamlet would
 * precede a city of the same name, and each pan would change the order.
 */
export const SEARCH = `query Search($text: String!, $bounds: BoundsInput!, $inView: Int!, $all: Int!) {
  inView: search(text: $text, bounds: $bounds, first: $inView) { ${FOUND} }
  all: search(text: $text, first: $all) { totalCount ${FOUND} }
}`;
