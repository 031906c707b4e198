import TinyQueue from 'tinyqueue';

import { Distribution, type Stretch } from '../../capacity/distribution.js';
import { CellportError } from '../../errors.js';
import { cellRange, fromZ, LONGEST_Z } from '../../geo/geohash.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { getBlocks } from '../../store/cell/blocks.js';
import { requireGeoIndex } from '../../store/collection/change-collection.js';
import { newCall, type Call } from '../../store/database.js';
import { markerFromBase, type MarkerInput } from '../../store/marker/marker-item.js';
import { batchGet } from '../../store/request/batches.js';
import { queryResponses } from '../../store/table/query-responses.js';
import { findCollection } from '../find-collection.js';
import type { AdviseSource } from './from-rows.js';

/**
 * Maximum number of cell blocks to read, fullest first: 1,024 read units. Markers in other blocks are assumed to be
 * spread evenly in their cells.
 */
const MOST_BLOCKS = 2_048;
/** Number of places where markers are sampled, and of markers at each: 128 read units. */
const SAMPLED_PLACES = 8;
const SAMPLED_MARKERS = 32;

interface CountedCell {
  readonly geohash: string;
  readonly count: number;
}

/** The distribution of markers according to the collection's cells, at full detail for the fullest. */
async function distributionOf(call: Call, collection: Collection): Promise<Distribution> {
  const scope = call.db.keys.scope(collection);
  const open = new TinyQueue<CountedCell>([{ geohash: '', count: Infinity }], (a, b) => b.count - a.count);
  const stretches: Stretch[] = [];
  const close = ({ geohash, count }: CountedCell) => stretches.push({ ...cellRange(geohash), markers: count });
  let read = 0;
  while (open.length > 0 && read < MOST_BLOCKS) {
    const cells: CountedCell[] = [];
    while (cells.length < REQUEST_LIMITS.batchGet && read + cells.length < MOST_BLOCKS) {
      const cell = open.pop();
      if (!cell) break;
      cells.push(cell);
    }
    read += cells.length;
    const parents = cells.map(({ geohash }) => geohash);
    for (const { parent, children } of await getBlocks(call, scope, parents)) {
      for (const [child, { count }] of children) {
        const cell = { geohash: parent + child, count };
        if (cell.geohash.length === FINEST_STORED) close(cell);
        else open.push(cell);
      }
    }
  }
  for (let cell = open.pop(); cell; cell = open.pop()) close(cell);
  return new Distribution(stretches.filter(({ markers }) => markers > 0));
}

/** Markers from a few places of the collection. */
async function sampleOf(call: Call, collection: Collection, distribution: Distribution): Promise<MarkerInput[]> {
  const { keys, tables } = call.db;
  const { prefixLength, geoSlot } = collection;
  const found = new Map<string, { readonly pk: string; readonly sk: string }>();
  for (let place = 0; place < SAMPLED_PLACES; place++) {
    const z = distribution.positionAt(((place + 0.5) / SAMPLED_PLACES) * distribution.markers);
    // Where within its cell it is, nobody knows.
    const geohash = fromZ(z, LONGEST_Z).slice(0, FINEST_STORED).padEnd(LONGEST_Z, '0');
    const { from, to } = keys.geoSortRange(
      prefixLength,
      geohash,
      geohash.slice(0, prefixLength).padEnd(LONGEST_Z, 'z'),
    );
    const prefix = geohash.slice(0, prefixLength);
    let left = SAMPLED_MARKERS;
    for (const pk of keys.spreadPartitions(keys.scope(collection), collection, prefix).flat()) {
      if (left <= 0) break;
      for await (const items of queryResponses(call, { index: `geo${geoSlot}`, pk, from, to }, left)) {
        left -= items.length;
        for (const item of items) {
          const key = { pk: String(item['pk']), sk: String(item['sk']) };
          found.set(`${key.pk}#${key.sk}`, key);
        }
      }
    }
  }
  const items = await batchGet(call, tables.entities, [...found.values()]);
  return items.flatMap((item) => (item && markerFromBase(keys, item, collection.key)) ?? []);
}

/**
 * The markers of a live collection, according to its cells and a sample of its items. Reads at most 2,048 blocks, and
 * 256 items in 8 Query calls, or more if the shards of a prefix have few, whatever its size. Throws NOT_FOUND if there is
 * no such collection, UNAVAILABLE if no marker is counted.
 */
export async function fromCollection(own: Call, key: string): Promise<AdviseSource> {
  const collection = await findCollection(own, key);
  requireGeoIndex(collection, 'whose partitions this would be about');
  // The answer states what this costs.
  const call = newCall(own.db, own.signal);
  const distribution = await distributionOf(call, collection);
  const sample = distribution.markers === 0 ? [] : await sampleOf(call, collection, distribution);
  if (sample.length === 0) {
    throw new CellportError(
      'UNAVAILABLE',
      `collection ${key} has no counted markers; import some, wait for the stream, or run \`cellport recount\``,
      { collection: key },
    );
  }
  const { prefixLength, writeShards } = collection;
  const { readUnits } = call.meter;
  return {
    what: `collection ${key}: ${distribution.markers} markers, estimated from its cells (for ${readUnits} read units)`,
    distribution,
    sample,
    collection,
    current: { prefixLength, writeShards },
  };
}
