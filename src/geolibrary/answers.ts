import pLimit from 'p-limit';

import { limitExceeded, badInput } from '../errors.js';
import { areaContains } from '../geo/bounds.js';
import type { ViewportContent } from '../map/markers/content.js';
import type { MapLimits } from '../map/context.js';
import { listName, readCursor } from '../map/cursor.js';
import { collectionOf, drawnFeature } from '../map/markers/features.js';
import { type MarkerFilterInput, readFilter } from '../map/filter.js';
import type { JsonText } from '../map/json-text.js';
import { type MarkerPage, type PageInput, pageOf, readWhole } from '../map/page.js';
import type { Viewport } from '../map/viewport.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import type { Database } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import type { Layout } from './layout.js';
import type { NearbyPage } from '../map/near/near.js';
import { type NearbyQuestion, readNearby } from './nearby.js';
import { type QueryPlan, planQueries } from './plan.js';
import { type Reading, isGeoPlace, readMarkers } from './read.js';
import { areaRegion, coverRegion } from './s2.js';

type Filter = MarkerFilterInput | null | undefined;

/** What a table of the Geo Library answers within one request; each throws as the same field of a collection does. */
export interface GeoTableAnswers {
  /** A page of the markers inside a viewport, its edges included; in the order of hash keys, then of geohashes. */
  viewportMarkers(viewport: Viewport, page: PageInput, filter: Filter): Promise<MarkerPage>;
  /** How many markers are inside: all are read, as the table keeps no counts. */
  viewportCount(viewport: Viewport): Promise<number>;
  /** The markers inside, while at most `limit` are; LIMIT_EXCEEDED beyond, as there is nothing to make clusters of. */
  viewportAuto(viewport: Viewport, limit: number, filter: Filter): Promise<ViewportContent>;
  /** The same as the JSON of a FeatureCollection. */
  viewportFeatures(viewport: Viewport, limit: number, filter: Filter): Promise<JsonText>;
  /** A page of the markers around a point, nearest first. */
  within(question: NearbyQuestion): Promise<NearbyPage>;
}

/** A table of the Geo Library that is served read-only, as a collection. */
export interface GeoTable {
  readonly collection: Collection;
  /** Items, as DynamoDB counted them when the table was looked at. */
  readonly count: number;
  answers(call: Call, limits: MapLimits): GeoTableAnswers;
}

/** Most cells of a cover: fine enough for a plan to leave out what lies far beyond the edges. */
const COVER = 48;
/** Query calls of one request that are under way at once. */
const CONCURRENT_QUERIES = 16;

/** The key of the collection as which a table is served: its name, as far as keys of collections have such characters. */
export function collectionKeyOf(table: string): string {
  const plain = table
    .toLowerCase()
    .replaceAll('.', '-')
    .replace(/^[^a-z0-9]+/, '');
  return plain.slice(0, 63) || 'geo-table';
}

const collectionIn = ({ table, createdAt }: Layout, key: string): Collection => ({
  key,
  name: table,
  description: `The table ${table} of the Geo Library for Amazon DynamoDB, read-only`,
  idStrategy: 'GIVEN',
  globalIds: false,
  mapProperties: [],
  prefixLength: 0,
  writeShards: 1,
  code: null,
  readingsTtlDays: null,
  readingsBucket: 'NONE',
  geoSlot: 'A',
  version: 1,
  createdAt,
  updatedAt: createdAt,
});

/** Serves a table as it stands. */
export function serveGeoTable(database: Database, layout: Layout, key: string): GeoTable {
  const collection = collectionIn(layout, key);
  return {
    collection,
    count: layout.items,
    answers: (call, limits) =>
      answersOf({ database, layout, collection, limits, call, inLane: pLimit(CONCURRENT_QUERIES) }),
  };
}

/** A filter from a client. Throws BAD_USER_INPUT for what such a table does not know, too. */
export function readGeoFilter(input: Filter): ReturnType<typeof readFilter> {
  const { updatedAfter } = input ?? {};
  if (updatedAfter !== undefined && updatedAfter !== null) {
    throw badInput(
      'filter.updatedAfter',
      updatedAfter,
      'left out: a table of the Geo Library does not know when items changed',
    );
  }
  return readFilter(input);
}

function answersOf(reading: Reading): GeoTableAnswers {
  const { collection, layout, limits } = reading;
  const planOf = ({ area }: Viewport) => planQueries(coverRegion(areaRegion(area), COVER), layout.hashKeyLength);

  /** Throws LIMIT_EXCEEDED where a field without pages would need more Query calls than it has, before any is made. */
  function checkPlan(field: string, { hashKeys }: QueryPlan): void {
    if (hashKeys <= BigInt(limits.rangesPerPage)) return;
    throw limitExceeded(
      field,
      `spread over ${hashKeys} hash keys`,
      `${limits.rangesPerPage} Query calls`,
      'ask for a smaller rectangle, or for its markers page by page',
    );
  }

  /** The markers of a viewport; more than `wanted` of them need not be told. */
  async function markersIn(
    field: string,
    viewport: Viewport,
    wanted: number,
    filter: ReturnType<typeof readFilter>,
  ): Promise<MapMarker[]> {
    const { area } = viewport;
    const plan = planOf(viewport);
    checkPlan(field, plan);
    const accept = ({ position }: MapMarker) => areaContains(area, position);
    const { found, ended } = await readMarkers(reading, { plan, accept, filter, wanted });
    if (!ended && found.length < wanted) {
      throw limitExceeded(
        field,
        'more than can be read at once',
        `${limits.rangesPerPage} Query calls or ${limits.itemsPerField} items`,
        'ask for a smaller rectangle, or for its markers page by page',
      );
    }
    return found.map(({ marker }) => marker);
  }

  async function fitting(field: string, viewport: Viewport, limit: number, input: Filter): Promise<MapMarker[]> {
    const most = readWhole('limit', limit, 1, limits.maxFirst);
    const markers = await markersIn(field, viewport, most + 1, readGeoFilter(input));
    if (markers.length <= most) return markers;
    throw limitExceeded(
      field,
      `more than ${most} markers`,
      most,
      'a table of the Geo Library keeps no counts to make clusters of: ask for a smaller rectangle, or import it',
    );
  }

  return {
    async viewportMarkers(viewport, input, filterInput) {
      const first = readWhole('first', input.first, 1, limits.maxFirst);
      const filter = readGeoFilter(filterInput);
      const name = listName(['geo-table', viewport.area.bounds, collection.key, filterInput ?? null]);
      const isFirst = input.after === null || input.after === undefined;
      const after = isFirst ? undefined : readCursor(name, input.after, isGeoPlace);
      const accept = ({ position }: MapMarker) => areaContains(viewport.area, position);
      // One more tells whether there is a next page.
      const wanted = first + 1;
      const read = await readMarkers(reading, { plan: planOf(viewport), accept, filter, wanted, after });
      return pageOf(name, read.found, { first, isFirst, ...read });
    },

    viewportCount: async (viewport) => (await markersIn('count', viewport, Infinity, undefined)).length,

    async viewportAuto(viewport, limit, filter) {
      const markers = await fitting('auto', viewport, limit, filter);
      return { mode: 'MARKERS', total: markers.length, markers, clusters: [], precision: viewport.precision };
    },

    viewportFeatures: async (viewport, limit, filter) =>
      collectionOf((await fitting('features', viewport, limit, filter)).map(drawnFeature)),

    within: (question) => readNearby(reading, question, readGeoFilter(question.filter)),
  };
}
