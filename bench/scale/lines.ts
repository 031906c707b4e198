import type { Distribution, EqualPrefixes } from '../../src/capacity/distribution.js';
import type { PageSizes } from '../../src/capacity/page-model.js';
import { BLOCK_BYTES } from '../../src/capacity/views.js';
import { fromZ, LONGEST_Z, type ZRange } from '../../src/geo/geohash.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { LONGEST_BLOCK } from '../../src/model/cell.js';
import { MOST_HINTS } from '../../src/store/page/pages.js';
import { KeyLine, type Stretch } from './key-line.js';

const keys = createKeyspace('readable');
const SCOPE = 'points';
const GENERATION = '1';
/** Markers and pages of one cell of this length, 156 km wide, form one stretch of the line. */
export const AREA_LENGTH = 3;
const AREA_SIZE = 32 ** (LONGEST_Z - AREA_LENGTH);
/** Bytes of a full part of a directory. */
export const PART_BYTES = 3_072;

/** Non-empty cells of one length, in order. */
export class Cells {
  readonly length: number;
  readonly all: readonly EqualPrefixes[];
  readonly #size: number;

  constructor(distribution: Distribution, length: number) {
    this.length = length;
    this.all = [...distribution.prefixes(length)];
    this.#size = 32 ** (LONGEST_Z - length);
  }

  geohash(index: number): string {
    return fromZ(this.all[index]?.prefix ?? 0, this.length);
  }

  /** The first and last cell (excluded) that overlap a range of Z-order at length 10. */
  meeting({ from, to }: ZRange): readonly [first: number, last: number] {
    return [this.#firstFrom(Math.floor(from / this.#size)), this.#firstFrom(Math.ceil(to / this.#size))];
  }

  #firstFrom(prefix: number): number {
    let [low, high] = [0, this.all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.all[middle]?.prefix ?? Infinity) < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The derived table: pages by area, directories, blocks of cells, the consumer's state. */
export interface DerivedLine {
  readonly line: KeyLine;
  readonly areas: Cells;
  readonly blocks: readonly Cells[];
  /** Where in the order of stretches the blocks of each length begin, the directories of the areas, and the state. */
  readonly blocksAt: readonly number[];
  readonly directoryAt: number;
  readonly stateAt: number;
  /** Parts of the directory that the pages of each area take; less than one if areas share a part. */
  readonly partsOf: readonly number[];
}

export function derivedLine(distribution: Distribution, page: PageSizes): DerivedLine {
  const stretches: Stretch[] = [];
  const areas = new Cells(distribution, AREA_LENGTH);
  const partsOf: number[] = [];
  areas.all.forEach(({ markers, prefix }, index) => {
    const geohash = areas.geohash(index);
    const pages = markers / page.markers;
    stretches.push({ pk: keys.page(SCOPE, GENERATION, geohash).pk, sort: prefix, bytes: pages * page.bytes });
    partsOf.push(pages / MOST_HINTS);
  });
  const blocksAt: number[] = [];
  const blocks = Array.from({ length: LONGEST_BLOCK + 1 }, (_, length) => new Cells(distribution, length));
  for (const cells of blocks) {
    blocksAt.push(stretches.length);
    cells.all.forEach(({ prefix }, index) => {
      stretches.push({ pk: keys.cell(SCOPE, cells.geohash(index)).pk, sort: prefix, bytes: BLOCK_BYTES, isItem: true });
    });
  }
  const directoryAt = stretches.length;
  areas.all.forEach(({ prefix }, index) => {
    const { pk } = keys.pageDirectory(SCOPE, GENERATION, areas.geohash(index));
    stretches.push({ pk, sort: prefix, bytes: (partsOf[index] ?? 0) * PART_BYTES });
  });
  const stateAt = stretches.length;
  stretches.push({ pk: keys.streamState('cells').pk, sort: 0, bytes: 500, isItem: true });
  return { line: new KeyLine(stretches), areas, blocks, blocksAt, directoryAt, stateAt, partsOf };
}

/** The layout of a geo index, and the size of an entry in bytes. */
export interface Partitioning {
  readonly prefixLength: number;
  readonly writeShards: number;
  readonly entryBytes: number;
}

/** The geo index: the entries of each area, shard by shard. */
export function indexLine(areas: Cells, layout: Partitioning, splitsKeys = true): KeyLine {
  const { prefixLength, writeShards, entryBytes } = layout;
  if (prefixLength > AREA_LENGTH)
    throw new Error(`prefix lengths above ${AREA_LENGTH} are finer than what is simulated`);
  return new KeyLine(
    areas.all.flatMap(({ prefix, markers }, index) => {
      const partitions = keys.geoPartitions(SCOPE, areas.geohash(index).slice(0, prefixLength), writeShards);
      return partitions.map((pk) => ({ pk, sort: prefix, bytes: (markers * entryBytes) / writeShards }));
    }),
    splitsKeys,
  );
}

/** The entities table: each marker has its own partition key, so they are evenly spread. */
export function entityLine(markers: number, itemBytes: number): KeyLine {
  const parts = 64;
  const pks = Array.from({ length: parts }, (_, part) => keys.marker(SCOPE, String(part)).pk);
  return new KeyLine(pks.map((pk) => ({ pk, sort: 0, bytes: (markers * itemBytes) / parts })));
}

/** The share of a range of Z-order at length 10 that lies in an area. */
export function partIn({ from, to }: ZRange, { prefix }: EqualPrefixes): ZRange {
  return { from: Math.max(from, prefix * AREA_SIZE), to: Math.min(to, (prefix + 1) * AREA_SIZE) };
}
