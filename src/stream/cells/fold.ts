import { NO_SUMS, type CellSums } from '../../geo/cell-sums.js';
import { addTo, changedBlocks, type CellChanges, type SumsByName } from '../../model/cell-changes.js';
import { placeParent, SIZE_NAME } from '../../model/cell.js';
import type { Contribution } from '../change.js';

/**
 * Adds up contributions, in any order, and keeps only their sums, so that a batch may have any number of records.
 */
export class CellFold {
  readonly #scopes = new Map<string, Map<string, CellSums>>();

  add(scope: string, { cell, sums: { count, sumLng, sumLat }, place, bytes }: Contribution, sign: 1 | -1): void {
    let sums = this.#scopes.get(scope);
    if (sums === undefined) this.#scopes.set(scope, (sums = new Map()));
    addTo(sums, cell, { count: sign * count, sumLng: sign * sumLng, sumLat: sign * sumLat });
    addTo(sums, SIZE_NAME, { count: sign * bytes, sumLng: sign * count, sumLat: 0 });
    if (place.length > 0) addTo(sums, placeParent(place), { ...NO_SUMS, count: sign * count });
  }

  /** The number of finest cells and places touched, which limits the memory and the writes of the batch. */
  get size(): number {
    return [...this.#scopes.values()].reduce((total, { size }) => total + size, 0);
  }

  /** The net changes of finest cells and places, by scope. */
  sums(): ReadonlyMap<string, SumsByName> {
    return this.#scopes;
  }

  /** The net changes of all blocks, without those that cancel out. */
  changes(): CellChanges {
    const all = [...this.#scopes].map(([scope, sums]) => [scope, changedBlocks(sums)] as const);
    return new Map(all.filter(([, blocks]) => blocks.size > 0));
  }
}
