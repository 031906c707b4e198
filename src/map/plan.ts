import { CellportError } from '../errors.js';
import type { Keyspace } from '../keys/keyspace.js';
import { Budget } from '../loaders/budget.js';
import { isCounted } from '../model/grant.js';
import { MARKERS_AN_ITEM } from '../pages/ordered-marker.js';
import { readUnitsOf, requestsOf } from '../pages/plan-reads.js';
import { explainMarkers, explainPages, type ExplainedRange } from '../plan/explain.js';
import { coverForPlan } from '../plan/markers.js';
import { requireCollection, type MapContext } from '../read/context.js';
import { nextRanges } from '../read/from-index/index-source.js';
import { pagePlan } from '../read/from-pages/page-source.js';
import type { IndexSearch } from '../read/search.js';
import type { Viewport } from './viewport.js';

/** The reads for markers. */
export interface ReadsPlan {
  readonly source: 'PAGES' | 'INDEX';
  readonly ranges: readonly ExplainedRange[];
  /** Number of Query and BatchGetItem calls. */
  readonly requests: number;
  /** Null for the index, whose entries are not counted before they are read. */
  readonly readUnits: number | null;
  /** Whether the connection may end before everything is read. */
  readonly more: boolean;
}

/** The reads for a viewport's markers. */
export interface ViewportPlan extends ReadsPlan {
  readonly precision: number;
}

/** The reads of a search of the geo index. */
export function indexPlan(search: IndexSearch, keys: Keyspace): ReadsPlan {
  const plan = nextRanges(search);
  const ranges = explainMarkers(plan, search.collection, keys);
  // Spread prefixes take more calls than the plan has counted.
  const more = plan.next !== undefined || ranges.length > search.budget.calls;
  return { source: 'INDEX', ranges, requests: ranges.length, readUnits: null, more };
}

/**
 * The reads of the first connection of a viewport's markers, in this order until the connection is full, as
 * `findMarkers` plans them; does not make them.
 */
export async function viewportPlan(
  context: MapContext,
  { area, precision }: Viewport,
  collectionKey: string,
): Promise<ViewportPlan> {
  const { keys, limits } = context;
  const collection = await requireCollection(context, collectionKey);
  // What is read, and so its price, is that of all rows.
  if (!isCounted(collection))
    throw new CellportError('FORBIDDEN', 'plan: the rules show you only some of these markers');
  const search = { collection, cover: coverForPlan(area), budget: Budget.of(limits) };
  const plan = await pagePlan(context, search, MARKERS_AN_ITEM * limits.itemsPerField);
  if (!plan) return { precision, ...indexPlan(search, keys) };
  const { pages, reads, rest } = plan;
  return {
    precision,
    source: 'PAGES',
    ranges: explainPages(reads, (begin) => pages.keyOf(begin)),
    requests: requestsOf(reads),
    more: rest.length > 0 || requestsOf(reads) > limits.queryCalls,
    readUnits: readUnitsOf(reads),
  };
}
