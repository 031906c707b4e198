import type { CellSums } from './cell-sums.js';

/** Numbers of each cell. */
const FIGURES = 3;

/** The sums of a block's cells by the last character of their geohash, in a fourth of the memory of a Map of objects. */
export class PackedSums implements ReadonlyMap<string, CellSums> {
  /** One character for each cell. */
  readonly #children: string;
  readonly #figures: readonly number[];

  constructor(sums: ReadonlyMap<string, CellSums>) {
    this.#children = [...sums.keys()].join('');
    const figures: number[] = [];
    for (const { count, sumLng, sumLat } of sums.values()) figures.push(count, sumLng, sumLat);
    // A copy is as long as it must be, and of plain doubles.
    this.#figures = figures.slice();
  }

  get size(): number {
    return this.#children.length;
  }

  #sumsAt(index: number): CellSums {
    const [count = 0, sumLng = 0, sumLat = 0] = this.#figures.slice(index * FIGURES, (index + 1) * FIGURES);
    return { count, sumLng, sumLat };
  }

  has(child: string): boolean {
    return child.length === 1 && this.#children.includes(child);
  }

  get(child: string): CellSums | undefined {
    return this.has(child) ? this.#sumsAt(this.#children.indexOf(child)) : undefined;
  }

  forEach(handle: (sums: CellSums, child: string, map: ReadonlyMap<string, CellSums>) => void): void {
    for (let index = 0, at = 0; index < this.#children.length; index++) {
      const count = this.#figures[at++] ?? 0;
      const sumLng = this.#figures[at++] ?? 0;
      const sumLat = this.#figures[at++] ?? 0;
      handle({ count, sumLng, sumLat }, this.#children.charAt(index), this);
    }
  }

  *entries(): MapIterator<[string, CellSums]> {
    for (let index = 0; index < this.#children.length; index++) {
      yield [this.#children.charAt(index), this.#sumsAt(index)];
    }
    return undefined;
  }

  *keys(): MapIterator<string> {
    yield* this.#children;
    return undefined;
  }

  *values(): MapIterator<CellSums> {
    for (let index = 0; index < this.#children.length; index++) yield this.#sumsAt(index);
    return undefined;
  }

  [Symbol.iterator](): MapIterator<[string, CellSums]> {
    return this.entries();
  }
}
