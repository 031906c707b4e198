import { Budget } from '../../loaders/budget.js';
import { type ExplainedRange, explainMarkers, explainPages } from '../../plan/explain.js';
import { coverForPlan } from '../../plan/markers.js';
import { type MapContext, requireCollection } from '../context.js';
import type { Viewport } from '../viewport.js';
import { nextRanges } from './index-source.js';
import { MARKERS_AN_ITEM, planPages } from './page-source.js';

/** The reads for a viewport's markers. */
export interface ViewportPlan {
  readonly precision: number;
  readonly ranges: readonly ExplainedRange[];
}

/**
 * The key ranges that the first page of a viewport's markers reads, in this order until the page is full; does not read
 * them.
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
  if (!pages) return { precision, ranges: explainMarkers(nextRanges(search), collection, keys) };
  const { reads } = await planPages(pages, search.cover, MARKERS_AN_ITEM * limits.itemsPerField, search.budget);
  const { scope, generation } = pages.of;
  return { precision, ranges: explainPages(reads, (begin) => keys.page(scope, generation, begin)) };
}
