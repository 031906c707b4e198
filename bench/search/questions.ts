import { normalizeBounds, type Area, type Point } from '../../src/geo/bounds.js';
import type { SearchQuery } from '../../src/search/engine.js';
import { wordsOf } from '../../src/search/words.js';
import type { BenchMarker } from '../rig/points.js';

export const KINDS = ['prefix', 'typo', 'bounds', 'near'] as const;
export type Kind = (typeof KINDS)[number];

/** What is searched for. */
export type Questions = Readonly<Record<Kind, readonly SearchQuery[]>>;

/** Widths of the boxes in degrees. */
const WIDTHS = [0.1, 1, 5, 20, 90];
/** Shorter names are compared with one edit at most. */
const LEAST_LETTERS = 6;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

const query = (text: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
  words: wordsOf(text),
  scopes: undefined,
  area: undefined,
  near: undefined,
  ...more,
});

/** The text with one letter more, less, other, or swapped with the next one. */
export function mistyped(text: string, random: () => number): string {
  const at = 1 + Math.floor(random() * (text.length - 2));
  const letter = LETTERS.charAt(Math.floor(random() * LETTERS.length));
  const [before, here, next] = [text.slice(0, at), text.charAt(at), text.charAt(at + 1)];
  const typos = [
    before + letter + text.slice(at),
    before + text.slice(at + 1),
    before + letter + text.slice(at + 1),
    before + next + here + text.slice(at + 2),
  ];
  return typos[Math.floor(random() * typos.length)] ?? text;
}

function areaAround({ lng, lat }: Point, width: number): Area {
  const south = Math.max(-90, lat - width / 4);
  const north = Math.min(90, lat + width / 4);
  return normalizeBounds('bounds', { west: lng - width / 2, south, east: lng + width / 2, north });
}

/** As many questions of each kind, about random cities. */
export function questionsAbout(markers: readonly BenchMarker[], count: number, random: () => number): Questions {
  const long = markers.filter(({ name }) => wordsOf(name ?? '').join(' ').length >= LEAST_LETTERS);
  const cityOf = (cities: readonly BenchMarker[]) => {
    const { name, position } = cities[Math.floor(random() * cities.length)] ?? { position: { lng: 0, lat: 0 } };
    return { name: wordsOf(name ?? '').join(' '), position };
  };
  const each = (ask: (index: number) => SearchQuery) => Array.from({ length: count }, (_, index) => ask(index));
  const begin = (name: string, letters: number) => name.slice(0, letters);
  return {
    // One to six letters, as a client sends them while somebody types.
    prefix: each((index) => query(begin(cityOf(markers).name, 1 + (index % 6)))),
    typo: each(() => query(mistyped(cityOf(long).name, random))),
    bounds: each((index) => {
      const { name, position } = cityOf(markers);
      const area = areaAround(position, WIDTHS[index % WIDTHS.length] ?? 1);
      return query(begin(name, index % 4), { area });
    }),
    near: each((index) => {
      const { name, position } = cityOf(markers);
      return query(begin(name, 1 + (index % 4)), { near: position });
    }),
  };
}
