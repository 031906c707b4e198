import { Distribution } from '../../src/capacity/distribution.js';
import type { Point } from '../../src/geo/bounds.js';
import { encode, LONGEST_Z, toZ } from '../../src/geo/geohash.js';
import { randomFrom } from '../../test/support/random.js';
import { cityMarkers, pointsAroundCities } from '../rig/points.js';

/** Number of points that represent all markers; they are counted in cells 4.9 km wide. */
const POINTS = 1_000_000;
const LENGTH = 5;
const CELL = 32 ** (LONGEST_Z - LENGTH);

/**
 * The distribution of a number of markers around cities, in proportion to population. Seeded points are counted by cell
 * as they are generated, each for the number of markers that it represents; none is kept.
 */
export function worldOf(markers: number, seed: number, points = POINTS): Distribution {
  const cells = new Map<number, number>();
  for (const { position } of pointsAroundCities(points, seed)) {
    const cell = toZ(encode(position, LENGTH));
    cells.set(cell, (cells.get(cell) ?? 0) + markers / points);
  }
  return new Distribution(
    Array.from(cells, ([cell, count]) => ({ from: cell * CELL, to: (cell + 1) * CELL, markers: count })),
  );
}

/** A place where people look at maps. */
export interface Visited extends Point {
  /** Its share of all maps. */
  readonly share: number;
}

/** Number of cities that are visited individually; smaller ones are represented by some of each octave. */
const LARGEST = 128;
const SAMPLED_OF_OCTAVE = 64;

/** The cities by population, largest first. */
export function citiesByPopulation(): Point[] {
  return cityMarkers()
    .toSorted((a, b) => Number(b.properties?.['population']) - Number(a.properties?.['population']))
    .map(({ position }) => position);
}

/** Zipf's law over cities: the nth gets maps in proportion to 1/n. */
export function visitedCities(cities: readonly Point[], seed: number): Visited[] {
  const random = randomFrom(seed);
  const weight = (from: number, to: number) => {
    let sum = 0;
    for (let rank = from; rank < to; rank++) sum += 1 / (rank + 1);
    return sum;
  };
  const all = weight(0, cities.length);
  const visited = cities.slice(0, LARGEST).map((city, rank) => ({ ...city, share: 1 / (rank + 1) / all }));
  for (let from = LARGEST; from < cities.length; from *= 2) {
    const to = Math.min(2 * from, cities.length);
    const step = (to - from) / SAMPLED_OF_OCTAVE;
    for (let part = 0; part < SAMPLED_OF_OCTAVE; part++) {
      const [first, last] = [Math.floor(from + part * step), Math.floor(from + (part + 1) * step)];
      const city = cities[first + Math.floor(random() * (last - first))];
      if (city && last > first) visited.push({ ...city, share: weight(first, last) / all });
    }
  }
  return visited;
}

/** Map use by local solar time, five times as high in the evening as in the early morning; the mean is 1. */
export function activityAt(lng: number, seconds: number): number {
  const hour = seconds / 3_600 + lng / 15;
  return 1 - (2 / 3) * Math.cos(((hour - 6) / 24) * 2 * Math.PI);
}
