import { type ExplainedRange, explainMarkers } from '../../plan/explain.js';
import { type MapContext, requireCollection } from '../context.js';
import { areaSource } from './sources.js';
import type { Viewport } from '../viewport.js';

/** What a viewport's markers would be read from. */
export interface ViewportPlan {
  readonly precision: number;
  readonly ranges: readonly ExplainedRange[];
}

/** The key ranges that the first page of a viewport's markers may read, without reading markers. */
export async function viewportPlan(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
): Promise<ViewportPlan> {
  const collection = await requireCollection(context, collectionKey);
  const { area, precision } = viewport;
  const source = await areaSource(context, collection, area, precision);
  const ceiling = Math.max(1, Math.floor((context.limits.rangesPerPage - source.calls) / collection.writeShards));
  const { ranges } = await source.plan(0, ceiling, Infinity);
  return {
    precision,
    ranges: explainMarkers({ ranges, next: undefined, expected: undefined }, collection, context.keys),
  };
}
