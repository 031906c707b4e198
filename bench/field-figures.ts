import { BatchGetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';

import { coverArea, encode, fromZ, LONGEST_Z, toZ, type ZRange } from '../src/geo/geohash.js';
import type { Collection } from '../src/model/collection.js';
import { rangeKeys } from '../src/plan/explain.js';
import { byPartition, joinPieces } from '../src/plan/join.js';
import { rangeRequest } from '../src/store/request/ranges.js';
import { areaOf, scan } from './rig/measure-views.js';
import { viewOf, type View } from './rig/places.js';
import { cityMarkers } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { quantile, shown, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const ROUNDS = 30;
const BLOCK_LENGTH = 4;

/** Median milliseconds of an operation, and its read units by AWS's rule. */
async function timed(rig: Rig, work: () => Promise<unknown>) {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rig.resetWire();
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return { ms: quantile(times, 0.5), units: rig.wire.readUnits };
}

/** Compares reading neighboring blocks of cells by one Query and by BatchGetItem. */
async function neighbors(rig: Rig, collection: Collection, count: number) {
  const { db } = rig;
  const scope = db.keys.scope(collection);
  const first = toZ(encode({ lng: 2.3, lat: 48.8 }, BLOCK_LENGTH));
  // Within one partition for any count.
  const from = Math.floor(first / 64) * 64;
  const parents = Array.from({ length: count }, (_, n) => fromZ(from + n, BLOCK_LENGTH));
  const { pk, ...bounds } = db.keys.cellRange(scope, parents[0] ?? '', parents.at(-1) ?? '');
  const query = await timed(rig, () =>
    db.client.send(
      new QueryCommand({
        ...rangeRequest(db, { index: 'derived', pk, ...bounds }, undefined),
        ReturnConsumedCapacity: 'TOTAL',
      }),
    ),
  );
  const batch = await timed(rig, () =>
    db.client.send(
      new BatchGetCommand({
        RequestItems: { [db.tables.derived]: { Keys: parents.map((parent) => db.keys.cell(scope, parent)) } },
        ReturnConsumedCapacity: 'TOTAL',
      }),
    ),
  );
  return { query, batch };
}

/** Reads a map in a limited number of ranges, split at the largest gaps. */
async function inRanges(rig: Rig, collection: Collection, stored: readonly number[], view: View, most: number) {
  const pieces = coverArea(areaOf(view), LONGEST_Z, 1_024);
  const before = (z: number) => {
    let low = 0;
    let high = stored.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((stored[middle] ?? 0) < z) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const partition = 32 ** (LONGEST_Z - collection.prefixLength);
  const apart = [...byPartition(pieces, partition)].flatMap((group) => group.pieces);
  const ranges: readonly ZRange[] = joinPieces(apart, partition, { heavy: 0, most, before });
  const reads = ranges.flatMap(({ from, to }) => {
    const prefix = fromZ(Math.floor(from / partition), collection.prefixLength);
    return rangeKeys({ prefix, from, to }, collection, rig.db.keys);
  });
  let read = 0;
  const cost = await timed(rig, async () => {
    const pages = await Promise.all(
      reads.map((keyRange) =>
        rig.db.client.send(
          new QueryCommand({ ...rangeRequest(rig.db, keyRange, undefined), ReturnConsumedCapacity: 'TOTAL' }),
        ),
      ),
    );
    read = pages.reduce((total, { Count = 0 }) => total + Count, 0);
  });
  return { ...cost, read, ranges: ranges.length };
}

async function run({ say }: BenchOptions): Promise<Section> {
  say('loading the cities');
  const rig = await startRig();
  try {
    const markers = cityMarkers();
    const collection = await rig.fill('cities', markers);
    const stored = markers.map(({ position }) => toZ(encode(position, LONGEST_Z))).sort((a, b) => a - b);
    say('neighboring cells');
    const cells: (string | number)[][] = [];
    for (const count of [1, 4, 16, 64]) {
      const { query, batch } = await neighbors(rig, collection, count);
      cells.push([count, shown(query.units), shown(batch.units), shown(batch.ms / query.ms, 2)]);
    }
    say('one more range');
    const ranges: (string | number)[][] = [];
    const view = viewOf('Paris', 2.35, 48.86, 9);
    for (const most of [1, 2, 4, 8, 16]) {
      const cost = await inRanges(rig, collection, stored, view, most);
      ranges.push([cost.ranges, cost.read, shown(cost.units), shown(cost.ms)]);
    }
    say(
      [
        'reading neighboring blocks of 32 cells, about 200 B each:\n',
        table([
          ['neighboring items', 'read units by Query', 'read units by BatchGetItem', 'time of BatchGetItem / Query'],
          ...cells,
        ]),
        `\nreading a map of Paris at zoom 9, ${scan(markers, view).length} markers inside, in more and more ranges:\n`,
        table([['ranges', 'markers read', 'read units', 'ms'], ...ranges]),
      ].join('\n'),
    );
    return { title: 'Query or BatchGetItem, and the cost of a range', rows: [], text: undefined };
  } finally {
    await rig.close();
  }
}

export const fieldFigures: Benchmark = { name: 'field-figures', hasCounts: false, run };
