import { areaContains, type Area, type Point } from '../../src/geo/bounds.js';
import { distance } from '../../src/geo/distance.js';
import type { SearchDocument } from '../../src/search/engine.js';

/** The query of a linear scan; the text as typed. */
export interface Wanted {
  readonly text: string;
  readonly scopes: readonly string[] | undefined;
  readonly area: Area | undefined;
}

/** Words of Latin text, split in another way than by the engine. */
const latinWords = (text: string) =>
  Array.from(text.normalize('NFD'))
    .filter((character) => !/\p{Diacritic}/u.test(character))
    .join('')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? [];

function hasAll(words: readonly string[], typed: readonly string[]): boolean {
  return typed.every((word, index) =>
    index === typed.length - 1 ? words.some((own) => own.startsWith(word)) : words.includes(word),
  );
}

const pointOf = ({ bounds }: SearchDocument): Point | undefined => bounds && { lng: bounds.west, lat: bounds.south };

/** The score of a marker: 1 for the same name, 0.8 in the name, 0.6 anywhere; undefined if it does not match. */
export function scoreOf(document: SearchDocument, { text, scopes, area }: Wanted): number | undefined {
  const typed = latinWords(text);
  const point = pointOf(document);
  if (scopes && !scopes.includes(document.scope)) return undefined;
  if (area && !(point && areaContains(area, point))) return undefined;
  if (typed.length === 0) return 0.6;
  const name = latinWords(document.name);
  if (name.join(' ') === typed.join(' ')) return 1;
  if (hasAll(name, typed)) return 0.8;
  return hasAll([...name, ...latinWords(document.rest)], typed) ? 0.6 : undefined;
}

/** Every matching document with its score, best first; all ranks differ. */
export function scan(documents: readonly SearchDocument[], wanted: Wanted) {
  return documents
    .flatMap((document) => {
      const score = scoreOf(document, wanted);
      return score === undefined ? [] : [{ document, score }];
    })
    .toSorted((a, b) => b.score - a.score || (b.document.rank ?? -Infinity) - (a.document.rank ?? -Infinity));
}

/** Every matching document with its distance in meters, nearest first. */
export function scanNear(documents: readonly SearchDocument[], wanted: Wanted, near: Point) {
  return scan(documents, wanted)
    .map(({ document }) => ({ document, meters: distance(near, pointOf(document) ?? near) }))
    .toSorted((a, b) => a.meters - b.meters);
}
