import { badInput } from '../errors.js';
import { normalizeBounds } from '../geo/bounds.js';
import { type KeyStyle, createKeyspace } from '../keys/keyspace.js';
import { readCode, readCollectionKey } from '../keys/validate.js';
import { LONGEST_BLOCK } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import { planBlocks } from '../plan/blocks.js';
import { blockKeyRanges, rangeBounds, rangeKeys } from '../plan/explain.js';
import { planMarkers } from '../plan/markers.js';
import { precisionForZoom } from '../plan/precision.js';
import type { BoundsOption, KeyOptions } from './options.js';

export interface PlanOptions extends KeyOptions {
  readonly bounds: BoundsOption;
  readonly zoom: number;
  readonly collection: string;
}

const LEAST_ZOOM = -2;
const GREATEST_ZOOM = 30;
/** Query calls of one page, as a server without settings has it. */
const CEILING = 64;

/** What a viewport would read, as `plan` prints it. */
export function planOf(options: Omit<PlanOptions, 'json' | 'style'>, style: KeyStyle) {
  const { zoom, prefixLength, writeShards, code } = options;
  const [west, south, east, north] = options.bounds;
  const area = normalizeBounds('--bounds', { west, south, east, north });
  if (!(zoom >= LEAST_ZOOM && zoom <= GREATEST_ZOOM))
    throw badInput('--zoom', zoom, `from ${LEAST_ZOOM} to ${GREATEST_ZOOM}`);
  const keys = createKeyspace(style);
  const collection: Collection = {
    key: readCollectionKey('--collection', options.collection),
    name: '',
    description: null,
    idStrategy: 'GIVEN',
    globalIds: false,
    mapProperties: [],
    prefixLength,
    writeShards,
    code: code === undefined ? null : readCode('--code', code),
    readingsTtlDays: null,
    readingsBucket: 'NONE',
    geoSlot: 'A',
    version: 1,
    createdAt: '',
    updatedAt: '',
  };
  const precision = precisionForZoom(zoom);
  const markers = planMarkers({ area, prefixLength, ceiling: CEILING });
  return {
    bounds: area.bounds,
    zoom,
    precision,
    // Finer cells are not stored but computed from the markers in them.
    cells:
      precision - 1 <= LONGEST_BLOCK ? blockKeyRanges(planBlocks(area, precision), keys.scope(collection), keys) : null,
    markers: markers.ranges.flatMap((range) =>
      rangeKeys(range, collection, keys).map((key) => ({ ...key, bounds: rangeBounds(range) })),
    ),
    /** Whether one page does not reach to the end of the rectangle. */
    more: markers.next !== undefined,
  };
}
