import { badInput } from '../errors.js';
import { normalizeBounds } from '../geo/bounds.js';
import { type KeyStyle, createKeyspace } from '../keys/keyspace.js';
import { readCode, readCollectionKey } from '../keys/validate.js';
import { MAX_ZOOM, MIN_ZOOM } from '../map/viewport.js';
import { LONGEST_BLOCK } from '../model/cell.js';
import { DEFAULT_LIMITS } from '../model/limits.js';
import { planBlocks } from '../plan/blocks.js';
import { blockKeyRanges, explainMarkers } from '../plan/explain.js';
import { coverForPlan, planMarkers } from '../plan/markers.js';
import { precisionForZoom } from '../plan/precision.js';
import type { BoundsOption, KeyOptions } from './options.js';

export interface PlanOptions extends KeyOptions {
  readonly bounds: BoundsOption;
  readonly zoom: number;
  readonly collection: string;
}

/** The reads of a server with default settings for a viewport, in the form that `plan` prints. */
export function planOf(options: Omit<PlanOptions, 'json' | 'style'>, style: KeyStyle) {
  const { zoom, prefixLength, writeShards, code } = options;
  const [west, south, east, north] = options.bounds;
  const area = normalizeBounds('--bounds', { west, south, east, north });
  if (!(zoom >= MIN_ZOOM && zoom <= MAX_ZOOM)) throw badInput('--zoom', zoom, `from ${MIN_ZOOM} to ${MAX_ZOOM}`);
  const keys = createKeyspace(style);
  const collection = {
    key: readCollectionKey('--collection', options.collection),
    code: code === undefined ? null : readCode('--code', code),
    prefixLength,
    writeShards,
    geoSlot: 'A',
  } as const;
  const precision = precisionForZoom(zoom);
  const ceiling = Math.floor(DEFAULT_LIMITS.rangesPerPage / writeShards);
  const markers = planMarkers({ cover: coverForPlan(area), prefixLength, ceiling });
  return {
    bounds: area.bounds,
    zoom,
    precision,
    // Finer cells are not stored but computed from their markers.
    cells:
      precision - 1 <= LONGEST_BLOCK ? blockKeyRanges(planBlocks(area, precision), keys.scope(collection), keys) : null,
    markers: explainMarkers(markers, collection, keys),
    /** Whether the first page may end before the bounding box does. */
    more: markers.next !== undefined,
  };
}
