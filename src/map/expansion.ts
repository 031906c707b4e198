import { type Cluster, type ClusterGrid, clusterSquare } from '../geo/clusters.js';
import { LONGEST_GEOHASH, center, encode } from '../geo/geohash.js';
import { groupBy } from '../loaders/group.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import { rangeKeys } from '../plan/explain.js';
import { precisionForZoom } from '../plan/precision.js';
import type { MapContext } from './context.js';
import { type OccupiedCells, cellOf, cellsOfBlock } from './occupied.js';
import { readAll, tooMuch } from './read-all.js';
import { blocksUnder, cellRange, markerRuns } from './runs.js';
import { FINEST_STORED, fixedSource } from './sources.js';
import { MAX_ZOOM } from './viewport.js';
import type { Placed } from './walk.js';

/** Markers of a cell that are looked at to tell when it falls apart. */
const SAMPLE = 100;
const ADVICE = 'ask for the expansion zoom of fewer clusters, e.g. in a smaller rectangle';

/** The cells that tell when each cluster falls apart, by the geohash of the cluster's first cell. */
type Parts = Map<string, readonly string[]>;

/**
 * Tells the least whole zoom above the viewport's at which a cluster falls apart: at which its cells, or where it has but
 * one the cells inside that, lie in two squares of the same size in px; beyond the finest stored cells by up to 100 of
 * its markers, in the cells that a map shows at each zoom. What has to be read is read for all clusters together, once.
 */
export function createExpansion(
  context: MapContext,
  collection: Collection,
  clusters: readonly Cluster[],
  occupied: OccupiedCells & { readonly precision: number },
  { zoom, size }: ClusterGrid,
): (cluster: Cluster) => Promise<number> {
  let opened: Promise<{ readonly cells: Parts; readonly places: Parts }> | undefined;

  /** The least zoom at which these lie in two squares, `at` telling where each stands at a zoom. */
  function fallsApart<T>(parts: readonly T[], at: (part: T, zoom: number) => string): number {
    for (let next = Math.floor(zoom) + 1; next < MAX_ZOOM; next++) {
      if (new Set(parts.map((part) => at(part, next))).size > 1) return next;
    }
    return MAX_ZOOM;
  }
  const bySquare = (geohash: string, at: number) => clusterSquare(center(geohash), { zoom: at, size });

  return async (cluster) => {
    if (cluster.count === 1) return MAX_ZOOM;
    if (cluster.cells.length > 1) return fallsApart(cluster.cells, ({ geohash }, at) => bySquare(geohash, at));
    const name = cluster.cells[0]?.geohash ?? '';
    opened ??= open(context, collection, clusters, occupied);
    const { cells, places } = await opened;
    const inside = cells.get(name);
    if (inside) return fallsApart(inside, bySquare);
    return fallsApart(places.get(name) ?? [], (geohash, at) => bySquare(geohash.slice(0, precisionForZoom(at)), at));
  };
}

/** Opens the clusters of one cell: the first cells inside that are more than one, or some markers where none are stored. */
async function open(
  context: MapContext,
  collection: Collection,
  clusters: readonly Cluster[],
  occupied: OccupiedCells & { readonly precision: number },
): Promise<{ readonly cells: Parts; readonly places: Parts }> {
  const { rangesPerPage, itemsPerField } = context.limits;
  const cells: Parts = new Map();
  const places: Parts = new Map();
  // What a cluster is opened as now: itself at first, then the only cell inside.
  let single = new Map(
    clusters.flatMap(({ count, cells: [first, ...more] }) =>
      first && more.length === 0 && count > 1 ? [[first.geohash, first.geohash] as const] : [],
    ),
  );
  for (let length = occupied.precision; length < FINEST_STORED && single.size > 0; length++) {
    const blocks = await blocksUnder(context, collection, [...single.keys()].sort());
    if (!blocks) throw tooMuch('expansionZoom', rangesPerPage, itemsPerField, ADVICE);
    const deeper = new Map<string, string>();
    for (const block of blocks) {
      const name = single.get(block.parent) ?? '';
      const inside = cellsOfBlock(block).map(({ geohash }) => geohash);
      if (inside.length > 1) cells.set(name, inside);
      else if (inside[0] !== undefined) deeper.set(inside[0], name);
    }
    single = deeper;
  }
  if (single.size === 0) return { cells, places };

  for (const [geohash, markers] of await sample(context, collection, occupied, single)) {
    places.set(
      single.get(geohash) ?? '',
      markers.map(({ position }) => encode(position, LONGEST_GEOHASH)),
    );
  }
  return { cells, places };
}

/** Markers of each of these cells, as far as they are needed: those that are known, or up to 100, or all of them. */
async function sample(
  context: MapContext,
  collection: Collection,
  { cells, markers, precision }: OccupiedCells & { readonly precision: number },
  single: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, readonly MapMarker[]>> {
  const { loaders, keys, limits } = context;
  const { prefixLength, writeShards } = collection;
  const length = Math.max(precision, FINEST_STORED);
  const gathered = (placed: readonly Placed[]) => {
    const wanted = placed.filter((one) => single.has(cellOf(one, length)));
    const groups = groupBy(wanted, (one) => cellOf(one, length));
    return new Map(Array.from(groups, ([cell, members]) => [cell, members.map(({ marker }) => marker)] as const));
  };
  if (markers) return gathered(markers);
  if (single.size * writeShards <= limits.rangesPerPage && prefixLength <= length) {
    const samples = Array.from(single.keys(), async (geohash) => {
      const range = { ...cellRange({ geohash }), prefix: geohash.slice(0, prefixLength), expected: undefined };
      const shards = await Promise.all(
        rangeKeys(range, collection, keys).map((shard) =>
          loaders.markers(collection, { range: shard, limit: SAMPLE, maxCalls: 1 }),
        ),
      );
      return [geohash, shards.flatMap((shard) => shard.markers.map(({ marker }) => marker))] as const;
    });
    return new Map(await Promise.all(samples));
  }
  const pieces = [...single.keys()].map((geohash) => cellRange({ geohash })).sort((a, b) => a.from - b.from);
  // Cells that were opened lie around their pieces: what stands between two pieces is counted by the others.
  const opened = new Set(
    [...single.keys()].flatMap((piece) => Array.from(piece, (_, index) => piece.slice(0, index + 1))),
  );
  const others = cells.filter(({ geohash }) => !opened.has(geohash));
  const ranges = markerRuns(pieces, others, collection, Math.floor(limits.rangesPerPage / writeShards));
  const found = await readAll(context, {
    field: 'expansionZoom',
    collection,
    source: fixedSource(ranges, collection, 0),
    accept: (one) => single.has(cellOf(one, length)),
    advice: ADVICE,
  });
  return gathered(found);
}
