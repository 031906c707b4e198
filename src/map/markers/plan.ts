import { Budget } from '../../loaders/budget.js';
import { type ExplainedRange, explainMarkers, explainPages } from '../../plan/explain.js';
import { readUnitsOf, requestsOf } from '../../pages/plan-reads.js';
import { coverForPlan } from '../../plan/markers.js';
import { type MapContext, requireCollection } from '../context.js';
import type { Viewport } from '../viewport.js';
import { nextRanges } from './index-source.js';
import { MARKERS_AN_ITEM, planPages } from './page-source.js';

/** The reads for a viewport's markers. */
export interface ViewportPlan {
  readonly precision: number;
  readonly source: 'PAGES' | 'INDEX';
  readonly ranges: readonly ExplainedRange[];
  /** Number of Query and BatchGetItem calls. */
  readonly requests: number;
  /** Null for the index, whose entries are not counted before they are read. */
  readonly readUnits: number | null;
}

/**
 * The reads of the first page of a viewport's markers, in this order until the page is full, as `findMarkers` plans
 * them; does not make them.
 */
export async function viewportPlan(
  context: MapContext,
  { area, precision }: Viewport,
  collectionKey: string,
): Promise<ViewportPlan> {
  const { loaders, keys, limits } = context;
  const collection = await requireCollection(context, collectionKey);
  const search = { collection, cover: coverForPlan(area), budget: Budget.of(limits) };
  const pages = await loaders.pages.open(collection);
  if (!pages) {
    const ranges = explainMarkers(nextRanges(search), collection, keys);
    return { precision, source: 'INDEX', ranges, requests: ranges.length, readUnits: null };
  }
  const { reads } = await planPages(pages, search.cover, MARKERS_AN_ITEM * limits.itemsPerField, search.budget);
  const { scope, generation } = pages.of;
  return {
    precision,
    source: 'PAGES',
    ranges: explainPages(reads, (begin) => keys.page(scope, generation, begin)),
    requests: requestsOf(reads),
    readUnits: readUnitsOf(reads),
  };
}
