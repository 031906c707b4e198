import pLimit from 'p-limit';

import { badInput, CellportError, limitExceeded } from '../errors.js';
import { areaContains } from '../geo/bounds.js';
import { Budget } from '../loaders/budget.js';
import type { CollectionAnswers } from '../map/answers.js';
import { markerConnection, readArguments, readWhole } from '../map/connection.js';
import { collectionOf, featuresOf } from '../map/features.js';
import type { Viewport } from '../map/viewport.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import type { MapMarker } from '../model/marker.js';
import { readFilter, type MarkerFilterInput } from '../read/filter.js';
import { CONCURRENT_QUERIES } from '../read/loaders.js';
import { tooMuch } from '../read/read-all.js';
import type { Database } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import type { TableLayout } from './layout.js';
import { readNearby } from './nearby.js';
import { COVER, planQueries } from './plan.js';
import { isGeoPosition } from './position.js';
import { readMarkers, type TableContext } from './read.js';
import { areaRegion, coverRegion } from './s2.js';

type Filter = MarkerFilterInput | null | undefined;

/** A table of the Geo Library that is served read-only as a collection. */
export interface GeoTable {
  readonly collection: Collection;
  /** Answers within one request. Fields that such a table does not support throw BAD_USER_INPUT. */
  answers(call: Call, limits: Limits): CollectionAnswers;
}

/** The key under which a table is served: its name, with characters that collection keys do not allow replaced. */
export function collectionKeyOf(table: string): string {
  const plain = table
    .toLowerCase()
    .replaceAll('.', '-')
    .replace(/^[^a-z0-9]+/, '');
  return plain.slice(0, 63) || 'geo-table';
}

/** Serves a table as a collection without changing it. */
export function serveGeoTable(database: Database, layout: TableLayout, key: string): GeoTable {
  const { table, createdAt } = layout;
  const collection: Collection = {
    key,
    name: table,
    description: `The table ${table} of the Geo Library for Amazon DynamoDB, read-only`,
    idStrategy: 'GIVEN',
    globalIds: false,
    mapProperties: [],
    rankBy: null,
    prefixLength: 0,
    writeShards: 1,
    code: null,
    readingsTtlDays: null,
    readingsBucket: 'NONE',
    readingsTable: 'SHARED',
    readingsSummarized: false,
    geoIndex: true,
    geoSlot: 'A',
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
  return {
    collection,
    answers: (call, limits) =>
      answersOf({ database, layout, collection, limits, call, inLane: pLimit(CONCURRENT_QUERIES) }),
  };
}

/** Validates a client's filter. Also throws BAD_USER_INPUT for `updatedAfter`: such a table has no update times. */
function readGeoFilter(input: Filter): ReturnType<typeof readFilter> {
  const { updatedAfter } = input ?? {};
  if (updatedAfter !== undefined && updatedAfter !== null) {
    throw badInput(
      'filter.updatedAfter',
      updatedAfter,
      'omitted, because tables of the Geo Library do not record when items change',
    );
  }
  return readFilter(input);
}

const planOf = ({ area }: Viewport, { hashKeyLength }: TableLayout) =>
  planQueries(coverRegion(areaRegion(area), COVER), hashKeyLength);

/**
 * The markers in a viewport, or slightly more than `wanted` of them. Throws LIMIT_EXCEEDED if that takes too many
 * reads.
 */
async function markersIn(
  context: TableContext,
  field: string,
  viewport: Viewport,
  wanted: number,
  filter?: ReturnType<typeof readFilter>,
): Promise<MapMarker[]> {
  const { layout, limits } = context;
  const plan = planOf(viewport, layout);
  const advice = 'use a smaller bounding box, or page through its markers';
  if (plan.hashKeys > BigInt(limits.queryCalls)) {
    // Each hash key takes at least one Query call, so the limit is checked before the first one.
    const given = `spread over ${plan.hashKeys} hash keys`;
    throw limitExceeded(field, given, `${limits.queryCalls} Query calls`, advice);
  }
  const accept = ({ position }: MapMarker) => areaContains(viewport.area, position);
  const { found, ended } = await readMarkers(context, { plan, accept, filter, wanted, budget: Budget.of(limits) });
  if (!ended && found.length < wanted) {
    throw tooMuch(field, limits, advice);
  }
  return found.map(({ marker }) => marker);
}

/** The markers in a viewport if there are at most `limit`. Throws LIMIT_EXCEEDED otherwise. */
async function markersUpTo(
  context: TableContext,
  field: string,
  viewport: Viewport,
  limit: number,
  filter: Filter,
): Promise<MapMarker[]> {
  const max = readWhole('limit', limit, 1, context.limits.maxFirst);
  const markers = await markersIn(context, field, viewport, max + 1, readGeoFilter(filter));
  if (markers.length <= max) return markers;
  throw limitExceeded(
    field,
    `more than ${max} markers`,
    max,
    'tables of the Geo Library have no counts for clusters; use a smaller bounding box, or import the table',
  );
}

function answersOf(context: TableContext): CollectionAnswers {
  const { collection, layout, limits } = context;
  function stored(field: string): never {
    const { key } = collection;
    throw new CellportError(
      'BAD_USER_INPUT',
      `${field} is not supported for tables of the Geo Library such as ${key}; import the table into a collection to use ${field}`,
      { field, collection: key },
    );
  }
  return {
    collection: async () => collection,
    node: async (name) => (name.type === 'collection' ? collection : stored('lookup by key')),
    hasCells: false,
    // DynamoDB's own count, up to six hours old.
    count: async () => layout.items,
    async viewportMarkers(viewport, input, filterInput) {
      const filter = readGeoFilter(filterInput);
      const list = ['geo-table', viewport.area.bounds, collection.key, filterInput ?? null];
      const page = readArguments(limits, list, input, isGeoPosition);
      const accept = ({ position }: MapMarker) => areaContains(viewport.area, position);
      const search = { plan: planOf(viewport, layout), accept, filter, budget: Budget.of(limits) };
      const { found, resumeAfter } = await readMarkers(context, { ...search, wanted: page.wanted, after: page.after });
      return markerConnection(page, found, resumeAfter);
    },
    viewportCount: async (viewport) => (await markersIn(context, 'count', viewport, Infinity)).length,
    async viewportAuto(viewport, limit, filter) {
      const markers = await markersUpTo(context, 'auto', viewport, limit, filter);
      return { mode: 'MARKERS', total: markers.length, markers, clusters: [], precision: viewport.precision };
    },
    viewportFeatures: async (viewport, limit, filter) =>
      collectionOf(
        (await markersUpTo(context, 'features', viewport, limit, filter)).map(featuresOf(collection.mapProperties)),
      ),
    within: (circle, page, filter) => readNearby(context, { ...circle, ...page, filter }, readGeoFilter(filter)),
    stored,
  };
}
