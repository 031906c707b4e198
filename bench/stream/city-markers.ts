import { readCities } from '../../src/ingest/cities.js';
import type { MarkerInput } from '../../src/store/marker-item.js';
import { createChance } from '../../test/stream/simulation/world.js';

const KM_PER_DEGREE = 111.32;
const SPREAD_KM = 15;

interface City {
  readonly lng: number;
  readonly lat: number;
  /** People of this city and of all before it. */
  readonly upTo: number;
}

async function cities(): Promise<readonly City[]> {
  const found: City[] = [];
  let upTo = 0;
  for await (const { content } of readCities().rows) {
    if (!('marker' in content)) continue;
    const { position, properties } = content.marker;
    upTo += Number(properties['population']);
    found.push({ lng: Number(position.lng), lat: Number(position.lat), upTo });
  }
  return found;
}

/** The first city that `person`, counted through all of them, is not beyond. */
function cityOf(all: readonly City[], person: number): City {
  let from = 0;
  let to = all.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((all[middle]?.upTo ?? 0) <= person) from = middle + 1;
    else to = middle;
  }
  // `from` stays within the list, which is not empty.
  return all[from] as City;
}

/**
 * Markers around the cities of the world, as many about each as it has people in proportion, normally distributed with
 * 15 km; the same ones for the same seed. With `oneCity` all are about the city that the first one falls to.
 */
export async function cityMarkers(seed: number, count: number, oneCity = false): Promise<MarkerInput[]> {
  const chance = createChance(seed);
  const all = await cities();
  const people = all.at(-1)?.upTo ?? 0;
  let city = cityOf(all, chance.next() * people);
  return Array.from({ length: count }, (_, index) => {
    if (!oneCity) city = cityOf(all, chance.next() * people);
    const km = SPREAD_KM * Math.sqrt(-2 * Math.log(1 - chance.next()));
    const turn = 2 * Math.PI * chance.next();
    const lat = Math.max(-85, Math.min(85, city.lat + (km * Math.sin(turn)) / KM_PER_DEGREE));
    const east = city.lng + (km * Math.cos(turn)) / (KM_PER_DEGREE * Math.cos((lat * Math.PI) / 180));
    return {
      key: `m${index}`,
      position: { lng: ((((east + 180) % 360) + 360) % 360) - 180, lat },
      name: `Marker ${index}`,
      category: 'shop',
      properties: { rating: chance.integer(1, 5) },
    };
  });
}
