/** Longer texts are compared by their first characters. */
const LONGEST = 64;

/** Number of edits allowed for a text of this length: none up to two letters, one up to five, otherwise two. */
export const editsAllowed = (length: number): number => (length <= 2 ? 0 : length <= 5 ? 1 : 2);

/**
 * The groups of three characters in a text, without duplicates, with spaces around it, so that short words also share
 * some.
 */
export function trigramsOf(text: string, longest = LONGEST): string[] {
  const characters = Array.from(` ${text.slice(0, longest)} `);
  return [...new Set(characters.slice(2).map((_, index) => characters.slice(index, index + 3).join('')))];
}

/**
 * The minimum number of insertions, deletions, replacements and transpositions that turn a text into the beginning of
 * another (Damerau and Levenshtein, optimal string alignment); Infinity if it exceeds `most`.
 */
function editsToBeginning(text: string, other: string, most: number): number {
  const width = Math.min(other.length, text.length + most);
  let before: number[] = [];
  let above = Array.from({ length: width + 1 }, (_, column) => column);
  for (let row = 1; row <= text.length; row++) {
    const current = [row];
    for (let column = 1; column <= width; column++) {
      const same = text[row - 1] === other[column - 1];
      let least = Math.min(
        (above[column] ?? Infinity) + 1,
        (current[column - 1] ?? Infinity) + 1,
        (above[column - 1] ?? Infinity) + (same ? 0 : 1),
      );
      const swapped = row > 1 && text[row - 1] === other[column - 2] && text[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, (before[column - 2] ?? Infinity) + 1);
      current.push(least);
    }
    if (Math.min(...current) > most) return Infinity;
    before = above;
    above = current;
  }
  const edits = Math.min(...above);
  return edits > most ? Infinity : edits;
}

/**
 * The number of edits from a typed text to the beginning of a name, or of the rest of the name from one of its words;
 * Infinity if too many.
 */
export function editsBetween(typed: string, name: string): number {
  const text = typed.slice(0, LONGEST);
  const most = editsAllowed(text.length);
  let least = Infinity;
  for (let start = 0; start >= 0 && start < name.length;) {
    least = Math.min(least, editsToBeginning(text, name.slice(start), most));
    const space = name.indexOf(' ', start);
    start = space < 0 ? -1 : space + 1;
  }
  return least;
}
