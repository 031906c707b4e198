import { fromZ } from '../../geo/geohash.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import type { Call } from '../database.js';
import { chunks } from '../request/pacing.js';
import { getBlocks } from './blocks.js';

const CHARACTERS = 32;
const BLOCKS_AT_A_TIME = 1_000;
/** Up to this many partitions are read without consulting the cells: 1,024 of them cost 512 read units. */
const FEW_PARTITIONS = 65_536;

/** Prefixes of a collection's partitions, listed from index `from` on; `number` is their total. */
export interface PartitionPrefixes {
  readonly total: number;
  has(prefix: string): boolean;
  list(from: number): Iterable<{ readonly number: number; readonly prefix: string }>;
}

/** All prefixes of a length under some cells, which have the same length. */
function prefixesUnder(cells: readonly string[], prefixLength: number): PartitionPrefixes {
  const perCell = CHARACTERS ** (prefixLength - (cells[0]?.length ?? 0));
  const total = cells.length * perCell;
  const known = new Set(cells);
  return {
    total,
    has: (prefix) => known.has(prefix.slice(0, cells[0]?.length)),
    *list(from) {
      for (let number = from; number < total; number += 1) {
        const cell = cells[Math.floor(number / perCell)] ?? '';
        yield { number, prefix: cell + fromZ(number % perCell, prefixLength - cell.length) };
      }
    },
  };
}

/** All prefixes that markers of a collection may have. */
export function allPrefixes({ prefixLength }: Collection): PartitionPrefixes {
  return prefixesUnder([''], prefixLength);
}

/** Whether a collection has so few partitions that none needs to be skipped. */
export function hasFewPartitions({ prefixLength, writeShards }: Collection): boolean {
  return CHARACTERS ** prefixLength * writeShards <= FEW_PARTITIONS;
}

/** The length of the cells that `occupiedPrefixes` uses: cells of the longest prefixes are not stored. */
export function occupiedLength({ prefixLength }: Collection): number {
  return Math.min(prefixLength, FINEST_STORED);
}

/**
 * The prefixes under which the cells count markers, and those under `others`, cells of `occupiedLength`. Valid only
 * while the cells are exact and include every write except those to `others`.
 */
export async function occupiedPrefixes(
  call: Call,
  collection: Collection,
  others: ReadonlySet<string> = new Set(),
): Promise<PartitionPrefixes> {
  const { prefixLength } = collection;
  const scope = call.db.keys.scope(collection);
  let cells = [''];
  for (let length = 0; length < occupiedLength(collection); length += 1) {
    const below: string[] = [];
    for (const parents of chunks(cells, BLOCKS_AT_A_TIME)) {
      const blocks = await getBlocks(call, scope, parents, { consistent: true });
      for (const { parent, children } of blocks) below.push(...[...children.keys()].map((child) => parent + child));
    }
    cells = below;
  }
  return prefixesUnder([...new Set([...cells, ...others])].toSorted(), prefixLength);
}
