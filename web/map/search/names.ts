/** Something with a name. Of equally good matches, those with the greatest weight come first. */
export interface Named {
  readonly name: string;
  readonly weight: number;
}

/** The words of a text without accents, in lower case, each preceded by one space. */
const words = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => ` ${word}`)
    .join('');

/**
 * The items whose name, or a word of it, starts with a text: matches at the start of the name come first. Case and
 * accents are ignored.
 */
export function findNames<T extends Named>(text: string, all: Iterable<T>, most: number): readonly T[] {
  const wanted = words(text);
  if (wanted === '') return [];
  const found: { readonly rank: number; readonly each: T }[] = [];
  for (const each of all) {
    const name = words(each.name);
    const at = name.indexOf(wanted);
    if (at >= 0) found.push({ rank: name === wanted ? 0 : at === 0 ? 1 : 2, each });
  }
  return found
    .toSorted((a, b) => a.rank - b.rank || b.each.weight - a.each.weight)
    .slice(0, most)
    .map(({ each }) => each);
}
