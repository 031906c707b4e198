import { badInput } from '../errors.js';
import { normalizeBounds, type Bounds } from '../geo/bounds.js';
import { createKeyspace, type Keyspace, type KeyStyle } from '../keys/keyspace.js';
import { readCode, readCollectionKey } from '../keys/validate.js';
import { Budget } from '../loaders/budget.js';
import { indexPlan, viewportPlan, type ReadsPlan } from '../map/plan.js';
import { MAX_ZOOM, MIN_ZOOM, type Viewport } from '../map/viewport.js';
import { LONGEST_BLOCK } from '../model/cell.js';
import type { KeyRange } from '../model/key-range.js';
import { DEFAULT_LIMITS } from '../model/limits.js';
import { planBlocks } from '../plan/blocks.js';
import { blockKeyRanges, type ScopedCollection } from '../plan/explain.js';
import { coverForPlan } from '../plan/markers.js';
import { precisionForZoom } from '../plan/precision.js';
import { requireCollection } from '../read/context.js';
import { oneQuery } from '../server/one-query.js';
import type { CommandSession, KeyOptions } from './session.js';

interface View {
  readonly bounds: Bounds;
  readonly zoom: number;
  readonly collection: string;
}

export interface PlanOptions extends KeyOptions, View {
  /** Whether to ask the database. */
  readonly live?: boolean;
}

/** The reads for a viewport, in the form that `plan` prints. */
export interface PrintedPlan extends Omit<ReadsPlan, 'ranges'> {
  readonly bounds: Bounds;
  readonly zoom: number;
  readonly precision: number;
  /** Null if cells are not stored at this length, but computed from their markers. */
  readonly cells: readonly KeyRange[] | null;
  readonly markers: ReadsPlan['ranges'];
}

function viewportOf({ bounds, zoom }: View): Viewport {
  const area = normalizeBounds('--bounds', bounds);
  if (!(zoom >= MIN_ZOOM && zoom <= MAX_ZOOM)) throw badInput('--zoom', zoom, `from ${MIN_ZOOM} to ${MAX_ZOOM}`);
  return { area, zoom, precision: precisionForZoom(zoom) };
}

function printed(
  { area, zoom, precision }: Viewport,
  collection: ScopedCollection,
  keys: Keyspace,
  { ranges: markers, ...plan }: ReadsPlan,
): PrintedPlan {
  const isStored = precision - 1 <= LONGEST_BLOCK;
  const cells = isStored ? blockKeyRanges(planBlocks(area, precision), keys.scope(collection), keys) : null;
  return { bounds: area.bounds, zoom, precision, cells, markers, ...plan };
}

/** The reads of the geo index for a collection with these settings, by a server with default limits. */
export function planOf(options: PlanOptions, style: KeyStyle): PrintedPlan {
  const { prefixLength, writeShards, code } = options;
  const viewport = viewportOf(options);
  const keys = createKeyspace(style);
  const collection = {
    key: readCollectionKey('--collection', options.collection),
    code: code === undefined ? null : readCode('--code', code),
    prefixLength,
    writeShards,
    geoSlot: 'A',
  } as const;
  const search = { cover: coverForPlan(viewport.area), collection, budget: Budget.of(DEFAULT_LIMITS) };
  return printed(viewport, collection, keys, indexPlan(search, keys));
}

/** The reads that a server would now make for a stored collection, from pages if they are available. */
export async function livePlan({ config, signal, ...backend }: CommandSession, options: View): Promise<PrintedPlan> {
  const viewport = viewportOf(options);
  return oneQuery(config.limits, backend.database, signal, async (map) => {
    const plan = await viewportPlan(map, viewport, options.collection);
    return printed(viewport, await requireCollection(map, options.collection), map.keys, plan);
  });
}
