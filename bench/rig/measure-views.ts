import { areaContains, normalizeBounds, type Area } from '../../src/geo/bounds.js';
import type { Collection } from '../../src/model/collection.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { itemBytes } from '../../src/store/request/item-size.js';
import { DRAWN_ATTRIBUTES } from '../../src/store/table/table-definitions.js';
import type { View } from './places.js';
import type { BenchMarker } from './points.js';
import type { Rig } from './rig.js';
import type { Wire } from './wire.js';

/** A map, its markers by a linear scan, and the cost of reading them. */
export interface MeasuredView {
  readonly view: View;
  readonly inside: number;
  /** Read units of one Query over exactly the index entries inside: the minimum. */
  readonly floor: number;
  readonly index: Wire;
  readonly cold: Wire;
  readonly known: Wire;
  readonly cells: Wire;
}

const ENTRY_ATTRIBUTES = ['pk', 'sk', 'gpkA', 'gskA', ...DRAWN_ATTRIBUTES];

/** Size in bytes of a marker's entry in the geo index, as charged for a read. */
export function entryBytes(rig: Rig, collection: Collection, marker: BenchMarker): number {
  const item = newMarkerItem(rig.db, collection, marker, '2026-11-21T00:00:00.000Z');
  return itemBytes(Object.fromEntries(ENTRY_ATTRIBUTES.map((name) => [name, item[name]])));
}

export const areaOf = ({ bounds }: View): Area => normalizeBounds('bounds', bounds);

const MARKERS = `query ($collection: String!, $bounds: BoundsInput!, $zoom: Float!, $first: Int!, $after: String) {
  viewport(bounds: $bounds, zoom: $zoom) {
    markers(collection: $collection, first: $first, after: $after) { nodes { key } pageInfo { hasNextPage endCursor } }
  }
}`;
export const CELLS = `query ($collection: String!, $bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) { cells(collection: $collection) { geohash count } }
}`;

interface Page {
  readonly viewport: {
    readonly markers: {
      readonly nodes: readonly { readonly key: string }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    };
  };
}

/** The keys of all markers of a map, read page by page. */
export async function keysIn(rig: Rig, collection: string, { bounds, zoom }: View): Promise<string[]> {
  const keys: string[] = [];
  let after: string | null = null;
  do {
    const variables: Record<string, unknown> = { collection, bounds, zoom, first: 5000, after };
    const { viewport }: Page = await rig.ask<Page>(MARKERS, variables);
    keys.push(...viewport.markers.nodes.map(({ key }) => key));
    const { hasNextPage, endCursor } = viewport.markers.pageInfo;
    after = hasNextPage ? endCursor : null;
  } while (after !== null);
  return keys;
}

/** The requests of an operation to DynamoDB. */
export async function wired(rig: Rig, work: () => Promise<unknown>): Promise<Wire> {
  rig.resetWire();
  await work();
  return { ...rig.wire };
}

/**
 * Measures the markers of a map: read from the geo `index`; from pages by a server that has just started (`cold`); and
 * by one that has the directory in memory (`known`). Also measures the map's `cells` without any cache.
 */
export async function measureView(
  rig: Rig,
  collection: string,
  view: View,
  inside: readonly number[],
): Promise<MeasuredView> {
  const { bounds, zoom } = view;
  const markers = () => keysIn(rig, collection, view);
  const drawCells = () => rig.ask(CELLS, { collection, bounds, zoom });
  rig.coolDown();
  const cells = await wired(rig, drawCells);
  rig.usePages(false);
  const index = await wired(rig, markers);
  rig.usePages(true);
  rig.coolDown();
  const cold = await wired(rig, markers);
  const known = await wired(rig, markers);
  const bytes = inside.reduce((total, each) => total + each, 0);
  return { view, inside: inside.length, floor: Math.max(0.5, Math.ceil(bytes / 4096) / 2), index, cold, known, cells };
}

/** Query and BatchGetItem calls. */
export const requests = ({ queries, batchGets }: Wire): number => queries + batchGets;

/** The markers on a map, by a linear scan. */
export function scan(markers: readonly BenchMarker[], view: View): BenchMarker[] {
  const area = areaOf(view);
  return markers.filter(({ position }) => areaContains(area, position));
}
