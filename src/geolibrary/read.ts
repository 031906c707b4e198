import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import { encode, LONGEST_Z } from '../geo/geohash.js';
import type { Budget } from '../loaders/budget.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import type { MapMarker } from '../model/marker.js';
import { concurrentRanges, itemsFor } from '../plan/wave.js';
import type { MarkerFilter } from '../read/filter.js';
import type { QueryResult } from '../read/search.js';
import type { Database, Item } from '../store/database.js';
import { mapConcurrently } from '../store/request/concurrency.js';
import type { Call } from '../store/request/meter.js';
import { send } from '../store/request/send.js';
import { readGeoItem } from './item.js';
import type { TableLayout } from './layout.js';
import type { PlannedQuery, QueryPlan } from './plan.js';
import { FIRST, formatPosition, parsePosition, type TablePosition } from './position.js';

/** What one request reads a table with. */
export interface TableContext {
  readonly database: Database;
  readonly layout: TableLayout;
  readonly collection: Collection;
  readonly limits: Limits;
  readonly call: Call;
  /** Limits the concurrent Query calls of the request. */
  readonly inLane: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface Search {
  readonly plan: QueryPlan;
  readonly accept: (marker: MapMarker) => boolean;
  readonly filter?: MarkerFilter | undefined;
  readonly budget: Budget;
  /** How many markers to find at least, Infinity for all. */
  readonly wanted: number;
  /** Only markers after this position in the order of hash keys, then IDs. */
  readonly after?: string | undefined;
}

/** The part of a query that remains to be read. */
interface RemainingQuery extends PlannedQuery {
  readonly start: Item | undefined;
}

/** The queries of a plan from a position on. */
function* queriesAfter(
  plan: QueryPlan,
  position: TablePosition | undefined,
  { attributes }: TableLayout,
): Generator<RemainingQuery> {
  for (const query of plan.queries(position?.hashKey)) {
    if (position === undefined || query.hashKey !== position.hashKey || position.id < query.from) {
      yield { ...query, start: undefined };
      continue;
    }
    if (position.id >= query.to) continue;
    if (position.rangeKey === undefined) {
      if (position.id + 1n < query.to) yield { ...query, from: position.id + 1n, start: undefined };
      continue;
    }
    const { hashKey, rangeKey, geohash } = attributes;
    yield { ...query, start: { [hashKey]: position.hashKey, [rangeKey]: position.rangeKey, [geohash]: position.id } };
  }
}

/** The Query of one page. */
function request({ table, index, attributes }: TableLayout, query: RemainingQuery, limit: number): QueryCommandInput {
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
function markerOf({ layout, collection }: TableContext, item: Item): MapMarker | undefined {
  const read = readGeoItem(item, layout.attributes);
  if ('reason' in read) return undefined;
  const { key, position, name, category, properties } = read;
  return {
    collection: collection.key,
    key,
    position,
    geohash: encode(position, LONGEST_Z),
    name,
    category,
    mapVersion: 0,
    mapProperties: properties,
    complete: true,
    place: [],
  };
}

/** The marker that was read at a position, at its current one, by one Query; undefined if it no longer exists. */
export async function readAt(context: TableContext, position: string, budget: Budget): Promise<MapMarker | undefined> {
  const { table, attributes } = context.layout;
  const { hashKey, rangeKey } = parsePosition(position);
  const wire = {
    TableName: table,
    KeyConditionExpression: '#hashKey = :hashKey AND #rangeKey = :rangeKey',
    ExpressionAttributeNames: { '#hashKey': attributes.hashKey, '#rangeKey': attributes.rangeKey },
    ExpressionAttributeValues: { ':hashKey': hashKey, ':rangeKey': rangeKey },
  };
  budget.debit({ calls: 1 });
  const { Items: [item] = [] } = await context.inLane(() => send(context.database, 'query', wire, context.call));
  return item && markerOf(context, item);
}

/** Markers that were read, each with its position, and the rest of the query. */
interface PartialRead {
  readonly items: readonly { readonly position: TablePosition; readonly marker: MapMarker }[];
  readonly rest: RemainingQuery | undefined;
}

/**
 * Reads markers in the order of a plan, with concurrent queries, until enough are found, all are read, or the budget is
 * spent.
 */
export function readMarkers(context: TableContext, search: Search): Promise<QueryResult> {
  return new TableRead(context, search).run();
}

/** The state of one read, for a page or a field without pages. */
class TableRead {
  readonly #context: TableContext;
  readonly #search: Search;
  /** Everything up to here has been found. */
  #resumeAfter: string | undefined;
  readonly #found: QueryResult['found'][number][] = [];

  constructor(context: TableContext, search: Search) {
    this.#context = context;
    this.#search = search;
    this.#resumeAfter = search.after;
  }

  async run(): Promise<QueryResult> {
    const { plan, budget, wanted, after } = this.#search;
    const queries = queriesAfter(plan, after === undefined ? undefined : parsePosition(after), this.#context.layout);
    for (;;) {
      const most = Math.min(budget.calls, concurrentRanges(wanted));
      if (most < 1 || budget.items < 1) return queries.next().done === true ? this.#full(true) : this.#cut();
      const wave: RemainingQuery[] = [];
      while (wave.length < most) {
        const { value, done } = queries.next();
        if (done === true) break;
        wave.push(value);
      }
      if (wave.length === 0) return this.#full(true);
      const reads = wave.map((query) => ({ query, share: budget.share(wave.length) }));
      const items = Math.ceil(budget.items / wave.length);
      const read = ({ query, share }: (typeof reads)[number]) => this.#read(query, share, items);
      const parts = await mapConcurrently(reads, reads.length, read);
      for (const [index, query] of wave.entries()) {
        const ended = await this.#finish(query, parts[index]);
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
    return this.#found.length >= this.#search.wanted;
  }

  /** Adds what was read of a query and reads its rest; returns the result if that ends the page. */
  async #finish(query: RemainingQuery, first: PartialRead | undefined): Promise<QueryResult | undefined> {
    const { budget } = this.#search;
    for (let part = first; part;) {
      this.#emit(part);
      const { rest } = part;
      if (rest === undefined) break;
      this.#resumeAfter = this.#startOf(rest);
      if (this.#isFull()) return this.#full(false);
      if (budget.calls < 1 || budget.items < 1) return this.#cut();
      part = await this.#read(rest, budget, budget.items);
    }
    this.#resumeAfter = formatPosition({ hashKey: query.hashKey, id: query.to - 1n, rangeKey: undefined });
    return undefined;
  }

  /** Reads on in a query, within the budget, about `mostItems` items. */
  async #read(query: RemainingQuery, budget: Budget, mostItems: number): Promise<PartialRead> {
    const { database, layout, call, inLane } = this.#context;
    const { rangeKey, geohash } = layout.attributes;
    const limit = Math.max(1, Math.min(mostItems, itemsFor(this.#search.wanted - this.#found.length)));
    const items: { position: TablePosition; marker: MapMarker }[] = [];
    let seen = 0;
    let rest: RemainingQuery | undefined = query;
    while (rest !== undefined && budget.calls > 0 && seen < limit) {
      const wire = request(layout, rest, limit - seen);
      budget.debit({ calls: 1 });
      const { Items = [], LastEvaluatedKey } = await inLane(() => send(database, 'query', wire, call));
      budget.debit({ items: Items.length });
      seen += Items.length;
      for (const item of Items) {
        const marker = markerOf(this.#context, item);
        if (marker === undefined) continue;
        const position = {
          hashKey: query.hashKey,
          id: BigInt(item[geohash] as bigint | number),
          rangeKey: item[rangeKey] as string | number | bigint,
        };
        items.push({ position, marker });
      }
      rest = LastEvaluatedKey === undefined ? undefined : { ...query, start: LastEvaluatedKey };
    }
    return { items, rest };
  }

  #emit({ items }: PartialRead): void {
    const { accept, filter } = this.#search;
    for (const { position, marker } of items) {
      const passes = accept(marker) && (filter?.verdict(marker, this.#context.collection) ?? 'pass') === 'pass';
      if (passes) this.#found.push({ position: formatPosition(position), marker });
    }
  }

  /** The position after which the rest of a query starts. */
  #startOf({ hashKey, start }: RemainingQuery): string | undefined {
    const { rangeKey, geohash } = this.#context.layout.attributes;
    if (start === undefined) return this.#resumeAfter;
    const id = BigInt(start[geohash] as bigint | number);
    return formatPosition({ hashKey, id, rangeKey: start[rangeKey] as string | number | bigint });
  }
}
