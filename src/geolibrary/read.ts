import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import type { Budget } from '../loaders/budget.js';
import type { MapLimits } from '../map/context.js';
import type { MarkerFilter } from '../map/filter.js';
import type { OrderedMarker, QueryResult } from '../map/markers/execute-plan.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import { mapConcurrently } from '../store/request/concurrency.js';
import type { Database, Item } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import { send } from '../store/request/send.js';
import { readGeoItem } from './item.js';
import type { Layout } from './layout.js';
import type { PlannedQuery, QueryPlan } from './plan.js';

/** What one request reads a table with. */
export interface Reading {
  readonly database: Database;
  readonly layout: Layout;
  readonly collection: Collection;
  readonly limits: MapLimits;
  readonly call: Call;
  /** Limits the concurrent Query calls of the request. */
  readonly inLane: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface Question {
  readonly plan: QueryPlan;
  readonly accept: (marker: MapMarker) => boolean;
  readonly filter?: MarkerFilter | undefined;
  readonly budget: Budget;
  /** How many markers to find at least, Infinity for all. */
  readonly wanted: number;
  /** Only markers after this position in the order of hash keys, then ids. */
  readonly after?: string | undefined;
}

/** Concurrent queries; fewer for a small page, which the first ones will probably fill. */
const WAVE = 16;
const SMALL_WAVE = 4;
const SMALL_PAGE = 100;
/** Items read beyond those wanted, as some are outside of the search. */
const SPARE = 50;

/** Where a page ends: after an item, or after all items of an ID if there is no range key. */
interface Mark {
  readonly hashKey: bigint;
  readonly id: bigint;
  readonly rangeKey: string | number | bigint | undefined;
}

const POSITION = /^(-?\d{1,19}):(-?\d{1,19})(?::([SN]):(.+))?$/s;

/** Whether a string is a position in such a table, as in cursors. */
export function isGeoPosition(text: string): boolean {
  return POSITION.test(text);
}

const numberOf = (digits: string) => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));

function positionOf({ hashKey, id, rangeKey }: Mark): string {
  const behind = rangeKey === undefined ? '' : `:${typeof rangeKey === 'string' ? 'S' : 'N'}:${rangeKey}`;
  return `${hashKey}:${id}${behind}`;
}

function markAt(position: string): Mark {
  const [, hashKey = '0', id = '0', type, key = ''] = POSITION.exec(position) ?? [];
  const rangeKey = type === undefined ? undefined : type === 'S' ? key : numberOf(key);
  return { hashKey: BigInt(hashKey), id: BigInt(id), rangeKey };
}

/** The part of a query that remains to be read. */
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
    // Free on the library's own index, which projects all attributes; otherwise DynamoDB fetches the missing ones.
    Select: 'ALL_ATTRIBUTES',
    KeyConditionExpression: '#hashKey = :hashKey AND #geohash BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#hashKey': attributes.hashKey, '#geohash': attributes.geohash },
    ExpressionAttributeValues: { ':hashKey': query.hashKey, ':from': query.from, ':to': query.to - 1n },
    ...(Number.isFinite(limit) ? { Limit: limit } : {}),
    ...(query.start === undefined ? {} : { ExclusiveStartKey: query.start }),
  };
}

/** The marker of an item; undefined for items that the library did not write, or could not find. */
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

/** The marker that stood at a position, wherever it is now, by one Query; undefined where it is gone. */
export async function readAt(reading: Reading, position: string, budget: Budget): Promise<MapMarker | undefined> {
  const { table, attributes } = reading.layout;
  const { hashKey, rangeKey } = markAt(position);
  const wire = {
    TableName: table,
    KeyConditionExpression: '#hashKey = :hashKey AND #rangeKey = :rangeKey',
    ExpressionAttributeNames: { '#hashKey': attributes.hashKey, '#rangeKey': attributes.rangeKey },
    ExpressionAttributeValues: { ':hashKey': hashKey, ':rangeKey': rangeKey },
  };
  budget.debit({ calls: 1 });
  const { Items: [item] = [] } = await reading.inLane(() => send(reading.database, 'query', wire, reading.call));
  return item && markerOf(reading, item);
}

/** Markers that were read, each with its position, and the rest of the query. */
interface Stretch {
  readonly items: readonly { readonly mark: Mark; readonly marker: MapMarker }[];
  readonly rest: Rest | undefined;
}

/**
 * Reads markers in the order of a plan, with concurrent queries, until enough are found, all are read, or the budget is
 * spent.
 */
export function readMarkers(reading: Reading, question: Question): Promise<QueryResult> {
  return new TableRead(reading, question).run();
}

/** The state of one read, for a page or a field without pages. */
class TableRead {
  readonly #reading: Reading;
  readonly #question: Question;
  /** Everything up to here has been found. */
  #resumeAfter: string | undefined;
  readonly #found: OrderedMarker[] = [];

  constructor(reading: Reading, question: Question) {
    this.#reading = reading;
    this.#question = question;
    this.#resumeAfter = question.after;
  }

  async run(): Promise<QueryResult> {
    const { plan, budget, wanted, after } = this.#question;
    const queries = queriesAfter(plan, after === undefined ? undefined : markAt(after), this.#reading.layout);
    for (;;) {
      const most = Math.min(budget.calls, wanted < SMALL_PAGE ? SMALL_WAVE : WAVE);
      if (most < 1 || budget.items < 1) return queries.next().done === true ? this.#full(true) : this.#cut();
      const wave: Rest[] = [];
      while (wave.length < most) {
        const { value, done } = queries.next();
        if (done === true) break;
        wave.push(value);
      }
      if (wave.length === 0) return this.#full(true);
      const reads = wave.map((query) => ({ query, share: budget.share(wave.length) }));
      const items = Math.ceil(budget.items / wave.length);
      const read = ({ query, share }: (typeof reads)[number]) => this.#read(query, share, items);
      const stretches = await mapConcurrently(reads, reads.length, read);
      for (const [index, query] of wave.entries()) {
        const ended = await this.#finish(query, stretches[index]);
        if (ended) return ended;
        if (this.#isFull()) return this.#full(index === wave.length - 1 && queries.next().done === true);
      }
    }
  }

  #cut(): QueryResult {
    return { found: this.#found, resumeAfter: this.#resumeAfter ?? FIRST, ended: false };
  }

  #full(ended: boolean): QueryResult {
    return { found: this.#found, resumeAfter: undefined, ended };
  }

  #isFull(): boolean {
    return this.#found.length >= this.#question.wanted;
  }

  /** Adds what was read of a query and reads its rest; returns the result if that ends the page. */
  async #finish(query: Rest, first: Stretch | undefined): Promise<QueryResult | undefined> {
    const { budget } = this.#question;
    for (let stretch = first; stretch;) {
      this.#emit(stretch);
      const { rest } = stretch;
      if (rest === undefined) break;
      this.#resumeAfter = this.#startOf(rest);
      if (this.#isFull()) return this.#full(false);
      if (budget.calls < 1 || budget.items < 1) return this.#cut();
      stretch = await this.#read(rest, budget, budget.items);
    }
    this.#resumeAfter = positionOf({ hashKey: query.hashKey, id: query.to - 1n, rangeKey: undefined });
    return undefined;
  }

  /** Reads on in a query, within the budget, about `mostItems` items. */
  async #read(query: Rest, budget: Budget, mostItems: number): Promise<Stretch> {
    const { database, layout, call, inLane } = this.#reading;
    const { rangeKey, geohash } = layout.attributes;
    const limit = Math.max(1, Math.min(mostItems, 2 * (this.#question.wanted - this.#found.length) + SPARE));
    const items: { mark: Mark; marker: MapMarker }[] = [];
    let seen = 0;
    let rest: Rest | undefined = query;
    while (rest !== undefined && budget.calls > 0 && seen < limit) {
      const wire = request(layout, rest, limit - seen);
      budget.debit({ calls: 1 });
      const { Items = [], LastEvaluatedKey } = await inLane(() => send(database, 'query', wire, call));
      budget.debit({ items: Items.length });
      seen += Items.length;
      for (const item of Items) {
        const marker = markerOf(this.#reading, item);
        if (marker === undefined) continue;
        const mark = {
          hashKey: query.hashKey,
          id: BigInt(item[geohash] as bigint | number),
          rangeKey: item[rangeKey] as string | number | bigint,
        };
        items.push({ mark, marker });
      }
      rest = LastEvaluatedKey === undefined ? undefined : { ...query, start: LastEvaluatedKey };
    }
    return { items, rest };
  }

  #emit({ items }: Stretch): void {
    const { accept, filter } = this.#question;
    for (const { mark, marker } of items) {
      const passes = accept(marker) && (filter?.verdict(marker, this.#reading.collection) ?? 'pass') === 'pass';
      if (passes) this.#found.push({ cursorPosition: positionOf(mark), marker });
    }
  }

  /** The position behind which the rest of a query begins. */
  #startOf({ hashKey, start }: Rest): string | undefined {
    const { rangeKey, geohash } = this.#reading.layout.attributes;
    if (start === undefined) return this.#resumeAfter;
    const id = BigInt(start[geohash] as bigint | number);
    return positionOf({ hashKey, id, rangeKey: start[rangeKey] as string | number | bigint });
  }
}

/** Before all there is. */
const FIRST = positionOf({ hashKey: -(10n ** 19n) + 1n, id: 0n, rangeKey: undefined });
