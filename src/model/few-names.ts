/** The most values of a label that others choose. */
export const MOST_NAMES = 200;

/** Keeps names that others choose apart as far as there are few: returns the name, or `other` for one too many. */
export function fewNames(): (name: string) => string {
  const names = new Set<string>();
  return (name) => {
    if (names.size < MOST_NAMES) names.add(name);
    return names.has(name) ? name : 'other';
  };
}
