import { ENOUGH } from '../../src/search/score.js';
import { editsBetween } from '../../src/search/typos.js';
import { wordsOf } from '../../src/search/words.js';
import type { BenchMarker } from '../rig/points.js';

const BEST = 10;
/** More than any population. */
const TIER = 1e12;

interface City {
  readonly key: string;
  readonly name: string;
  readonly own: readonly string[];
  readonly all: readonly string[];
  readonly population: number;
}

/** Whether these are all the words; the last one may be the beginning of one. */
const hasAll = (words: readonly string[], typed: readonly string[]) =>
  typed.every((word, index) =>
    index === typed.length - 1 ? words.some((own) => own.startsWith(word)) : words.includes(word),
  );

/** Finds the ten best cities for a text by a linear scan. */
export class Scan {
  readonly #cities: readonly City[];
  /** By text: the same questions are put to each engine, and a scan takes longer than their answers. */
  readonly #places = new Map<string, ReadonlyMap<string, number>>();

  constructor(markers: readonly BenchMarker[]) {
    this.#cities = markers.map(({ key, name, category, properties }) => {
      const own = wordsOf(name ?? '');
      const rest = wordsOf([category, ...Object.values(properties ?? {}).map(String)].join(' '));
      const population = Number(properties?.['population']);
      return { key, name: own.join(' '), own, all: [...own, ...rest], population };
    });
  }

  /** The place of every match in the order, the lowest first: those with all words, then by edits; in each by population. */
  #placesOf(typed: readonly string[]): ReadonlyMap<string, number> {
    const text = typed.join(' ');
    const known = this.#places.get(text);
    if (known) return known;
    const places = new Map<string, number>();
    this.#places.set(text, places);
    for (const { key, name, own, all, population } of this.#cities) {
      if (hasAll(all, typed)) places.set(key, (name === text ? 0 : hasAll(own, typed) ? 1 : 2) * TIER - population);
    }
    if (places.size >= ENOUGH) return places;
    const exact = new Set(places.keys());
    for (const { key, name, population } of this.#cities) {
      const edits = exact.has(key) ? Infinity : editsBetween(text, name);
      if (edits < Infinity) places.set(key, (3 + edits) * TIER - population);
    }
    return places;
  }

  /** How many of the ten best are among the keys, of how many; cities of the same place may replace each other. */
  recall(typed: readonly string[], keys: readonly string[]): { readonly found: number; readonly of: number } {
    const places = this.#placesOf(typed);
    const best = [...places.values()].sort((a, b) => a - b).slice(0, BEST);
    const last = best.at(-1) ?? -Infinity;
    return { found: keys.filter((key) => (places.get(key) ?? Infinity) <= last).length, of: best.length };
  }
}
