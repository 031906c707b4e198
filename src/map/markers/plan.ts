import { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import { type ExplainedRange, explainMarkers } from '../../plan/explain.js';
import { type MapContext, requireCollection } from '../context.js';
import type { Viewport } from '../viewport.js';
import { nextPart, planArea } from './planners.js';

/** What a viewport's markers are read from. */
export interface ViewportPlan {
  readonly precision: number;
  readonly ranges: readonly ExplainedRange[];
}

/** Plans the search for a viewport's markers, as `markers` reads them and `plan` shows it. */
export const planViewport = (
  context: MapContext,
  collection: Collection,
  { area, precision }: Viewport,
  budget: Budget,
) => planArea(context, collection, area, { precision, budget });

/** The key ranges that the first page of a viewport's markers reads, in this order until it is full, without reading them. */
export async function viewportPlan(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
): Promise<ViewportPlan> {
  const collection = await requireCollection(context, collectionKey);
  const budget = Budget.of(context.limits);
  const plan = await nextPart(await planViewport(context, collection, viewport, budget), collection, budget);
  return { precision: viewport.precision, ranges: explainMarkers(plan, collection, context.keys) };
}
