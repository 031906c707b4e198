/** How well a document matches, the best first. */
export const TIERS = ['same name', 'in the name', 'anywhere', 'typo'] as const;
export type Tier = (typeof TIERS)[number];
export const TYPO = TIERS.indexOf('typo');
const SCORES: Readonly<Record<Tier, number>> = { 'same name': 1, 'in the name': 0.8, anywhere: 0.6, typo: 0.4 };

/** Typos are looked for only if fewer documents have the words as they are typed. */
export const ENOUGH = 10;
/** How many names with the most groups of three letters in common are compared letter by letter. */
export const CANDIDATES = 300;
/** Names are compared with typed text up to this length. */
export const LONGEST_FOLDED = 100;

/** The score of a tier, from 1 down; for typos, with their edits. */
export function relevance(tier: number, edits: number): number {
  return SCORES[TIERS[tier] ?? 'typo'] / Math.max(1, edits);
}

/** The score of a distance in metres, half of the best at 10 km; typos are below all others. */
export function closeness(tier: number, metres: number): number {
  const close = 1 / (1 + metres / 10_000);
  return tier === TYPO ? close * SCORES.typo : SCORES.typo + (1 - SCORES.typo) * close;
}
