import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import type { MapLimits } from '../map/context.js';
import type { MarkerFilter } from '../map/filter.js';
import type { Placed } from '../map/markers/walk.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import { mapConcurrently } from '../store/request/concurrency.js';
import type { Database, Item } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import { send } from '../store/request/send.js';
import { readGeoItem } from './item.js';
import type { Layout } from './layout.js';
import type { PlannedQuery, QueryPlan } from './plan.js';

/** What is asked of a table by one request. */
export interface Reading {
  readonly database: Database;
  readonly layout: Layout;
  readonly collection: Collection;
  readonly limits: MapLimits;
  readonly call: Call;
  /** Bounds how many Query calls of the request are under way at once. */
  readonly inLane: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface Question {
  readonly plan: QueryPlan;
  readonly accept: (marker: MapMarker) => boolean;
  readonly filter?: MarkerFilter | undefined;
  /** How many markers are wanted, Infinity for all. More may come. */
  readonly wanted: number;
  /** Only what comes after this place. */
  readonly after?: string | undefined;
}

/** As `Walked` of a collection, its places being those of this table. */
export interface Read {
  readonly found: readonly Placed[];
  readonly cutAt: string | undefined;
  readonly ended: boolean;
  /** Query calls and items that it took. */
  readonly calls: number;
  readonly items: number;
}

const WAVE = 16;
const SMALL_WAVE = 4;
const SMALL_PAGE = 100;
const SPARE = 50;

/** Where a page ends: behind an item, or behind all of an id where it names no item. */
interface Mark {
  readonly hashKey: bigint;
  readonly id: bigint;
  readonly rangeKey: string | number | bigint | undefined;
}

const PLACE = /^(-?\d{1,19}):(-?\d{1,19})(?::([SN]):(.+))?$/s;

/** Whether a text is a place in such a table, as cursors hold them. */
export function isGeoPlace(place: string): boolean {
  return PLACE.test(place);
}

const numberOf = (digits: string) => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));

function placeOf({ hashKey, id, rangeKey }: Mark): string {
  const behind = rangeKey === undefined ? '' : `:${typeof rangeKey === 'string' ? 'S' : 'N'}:${rangeKey}`;
  return `${hashKey}:${id}${behind}`;
}

function markAt(place: string): Mark {
  const [, hashKey = '0', id = '0', type, key = ''] = PLACE.exec(place) ?? [];
  const rangeKey = type === undefined ? undefined : type === 'S' ? key : numberOf(key);
  return { hashKey: BigInt(hashKey), id: BigInt(id), rangeKey };
}

/** The part of a query that is still to be read. */
interface Rest extends PlannedQuery {
  readonly start: Item | undefined;
}

/** The queries of a plan from a mark on. */
function* queriesAfter(plan: QueryPlan, mark: Mark | undefined, { attributes }: Layout): Generator<Rest> {
  for (const query of plan.queries(mark?.hashKey)) {
    if (mark === undefined || query.hashKey !== mark.hashKey || mark.id < query.from) {
      yield { ...query, start: undefined };
      continue;
    }
    if (mark.id >= query.to) continue;
    if (mark.rangeKey === undefined) {
      if (mark.id + 1n < query.to) yield { ...query, from: mark.id + 1n, start: undefined };
      continue;
    }
    const { hashKey, rangeKey, geohash } = attributes;
    yield { ...query, start: { [hashKey]: mark.hashKey, [rangeKey]: mark.rangeKey, [geohash]: mark.id } };
  }
}

/** The Query of one page. */
function request({ table, index, attributes }: Layout, query: Rest, limit: number): QueryCommandInput {
  return {
    TableName: table,
    IndexName: index,
    // What an index does not project is fetched; where it projects all, as the library makes it, this costs nothing.
    Select: 'ALL_ATTRIBUTES',
    KeyConditionExpression: '#hashKey = :hashKey AND #geohash BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#hashKey': attributes.hashKey, '#geohash': attributes.geohash },
    ExpressionAttributeValues: { ':hashKey': query.hashKey, ':from': query.from, ':to': query.to - 1n },
    ...(Number.isFinite(limit) ? { Limit: limit } : {}),
    ...(query.start === undefined ? {} : { ExclusiveStartKey: query.start }),
  };
}

/** The marker of an item; what the library did not write, or could not find, is none. */
function markerOf({ layout, collection }: Reading, item: Item): MapMarker | undefined {
  const read = readGeoItem(item, layout.attributes);
  if ('reason' in read) return undefined;
  const { key, position, name, category, properties } = read;
  return {
    collection: collection.key,
    key,
    position,
    name,
    category,
    mapVersion: 0,
    mapProperties: properties,
    complete: true,
    place: [],
  };
}

/** The marker that stood at a place, wherever it is now, by one Query; undefined where it has gone. */
export async function readPlace(reading: Reading, place: string): Promise<MapMarker | undefined> {
  const { table, attributes } = reading.layout;
  const { hashKey, rangeKey } = markAt(place);
  const wire = {
    TableName: table,
    KeyConditionExpression: '#hashKey = :hashKey AND #rangeKey = :rangeKey',
    ExpressionAttributeNames: { '#hashKey': attributes.hashKey, '#rangeKey': attributes.rangeKey },
    ExpressionAttributeValues: { ':hashKey': hashKey, ':rangeKey': rangeKey },
  };
  const { Items: [item] = [] } = await reading.inLane(() => send(reading.database, 'query', wire, reading.call));
  return item && markerOf(reading, item);
}

/** Markers that were read, each with where it stands, and what is left of the query. */
interface Stretch {
  readonly items: readonly { readonly mark: Mark; readonly marker: MapMarker }[];
  readonly rest: Rest | undefined;
}

/**
 * Reads markers in the order of a plan until enough are found, all is read, or the ceiling of Query calls or of items is
 * reached: several queries side by side, all their pages.
 */
export async function readMarkers(reading: Reading, question: Question): Promise<Read> {
  const { database, layout, collection, limits, call, inLane } = reading;
  const { plan, accept, filter, wanted, after } = question;
  const { rangeKey, geohash } = layout.attributes;
  let calls = limits.rangesPerPage;
  let items = limits.itemsPerField;
  let told = after;
  const found: Placed[] = [];

  /** Reads a query on, by at most so many calls and about as many items. */
  async function readOn(query: Rest, most: number, mostItems: number): Promise<Stretch> {
    const limit = Math.max(1, Math.min(mostItems, 2 * (wanted - found.length) + SPARE));
    const stretch: { mark: Mark; marker: MapMarker }[] = [];
    let seen = 0;
    let rest: Rest | undefined = query;
    for (let page = 0; rest !== undefined && page < most && seen < limit; page++) {
      calls--;
      const wire = request(layout, rest, limit - seen);
      const { Items = [], LastEvaluatedKey } = await inLane(() => send(database, 'query', wire, call));
      seen += Items.length;
      for (const item of Items) {
        const marker = markerOf(reading, item);
        if (marker === undefined) continue;
        const mark = {
          hashKey: query.hashKey,
          id: BigInt(item[geohash] as bigint | number),
          rangeKey: item[rangeKey] as string | number | bigint,
        };
        stretch.push({ mark, marker });
      }
      rest = LastEvaluatedKey === undefined ? undefined : { ...query, start: LastEvaluatedKey };
    }
    items -= seen;
    return { items: stretch, rest };
  }

  function take({ items: read }: Stretch): void {
    for (const { mark, marker } of read) {
      const passes = accept(marker) && (filter === undefined || filter.verdict(marker, collection) === 'pass');
      if (passes) found.push({ place: placeOf(mark), marker });
    }
  }

  const spent = () => ({ found, calls: limits.rangesPerPage - calls, items: limits.itemsPerField - items });
  const cut = (): Read => ({ ...spent(), cutAt: told ?? FIRST, ended: false });
  const full = (ended: boolean): Read => ({ ...spent(), cutAt: undefined, ended });
  const behind = (query: Rest) => {
    const { start } = query;
    if (start === undefined) return told;
    const id = BigInt(start[geohash] as bigint | number);
    return placeOf({ hashKey: query.hashKey, id, rangeKey: start[rangeKey] as string | number | bigint });
  };

  const queries = queriesAfter(plan, after === undefined ? undefined : markAt(after), layout);
  for (;;) {
    const wave: Rest[] = [];
    const most = Math.min(calls, wanted < SMALL_PAGE ? SMALL_WAVE : WAVE);
    if (most < 1 || items < 1) {
      return queries.next().done === true ? full(true) : cut();
    }
    while (wave.length < most) {
      const { value, done } = queries.next();
      if (done === true) break;
      wave.push(value);
    }
    if (wave.length === 0) return full(true);
    const share = Math.max(1, Math.floor(calls / wave.length));
    const itemShare = Math.ceil(items / wave.length);
    const stretches = await mapConcurrently(wave, wave.length, (query) => readOn(query, share, itemShare));
    for (const [index, first] of stretches.entries()) {
      let stretch = first;
      take(stretch);
      while (stretch.rest !== undefined) {
        told = behind(stretch.rest);
        if (found.length >= wanted) return full(false);
        if (calls < 1 || items < 1) return cut();
        stretch = await readOn(stretch.rest, calls, items);
        take(stretch);
      }
      const query = wave[index];
      if (query !== undefined) told = placeOf({ hashKey: query.hashKey, id: query.to - 1n, rangeKey: undefined });
      if (found.length >= wanted) return full(index === wave.length - 1 && queries.next().done === true);
    }
  }
}

/** Before all there is. */
const FIRST = placeOf({ hashKey: -(10n ** 19n) + 1n, id: 0n, rangeKey: undefined });
