import type { Bounds } from '../../src/client/public.js';

// The operations of the page, in addition to those of the client. test/web/map.test.ts validates them against the schema.

/** A collection as the list of layers shows it. */
export interface Collection {
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly idStrategy: 'GIVEN' | 'SEQUENCE' | 'UUID';
  readonly count: number;
  readonly bounds: Bounds | null;
  readonly zones: { readonly nodes: readonly { readonly id: string }[] };
}

export const COLLECTIONS = `query Collections {
  collections(first: 50) {
    nodes { key name description idStrategy count bounds { west south east north } zones(first: 1) { nodes { id } } }
  }
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

const MARKER = `id key name category position { lng lat } properties place version`;

export interface MarkerDetails extends Marker {
  readonly collection: { readonly key: string; readonly name: string };
  readonly readings: readonly Reading[];
}

export const DETAILS = `query Details($id: ID!) {
  marker(id: $id) { ${MARKER} collection { key name } readings(last: 60) { at values } }
}`;

export const READINGS = `subscription Readings($id: ID!) { readingRecorded(marker: $id) { at } }`;

export const CREATE = `mutation Create($input: CreateMarkerInput!) { createMarker(input: $input) { ${MARKER} } }`;
export const UPDATE = `mutation Update($input: UpdateMarkerInput!) { updateMarker(input: $input) { ${MARKER} } }`;
export const DELETE = `mutation Delete($id: ID!, $expectedVersion: Int) {
  deleteMarker(id: $id, expectedVersion: $expectedVersion) { ${MARKER} collection { key } }
}`;
