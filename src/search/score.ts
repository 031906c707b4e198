/** The ways in which a document can match, best first. */
export const TIERS = ['same name', 'in the name', 'anywhere', 'typo'] as const;
export type Tier = (typeof TIERS)[number];
export const TYPO = TIERS.indexOf('typo');
const SCORES: Readonly<Record<Tier, number>> = { 'same name': 1, 'in the name': 0.8, anywhere: 0.6, typo: 0.4 };

/** Typos are searched only if fewer documents match the words as typed. */
export const ENOUGH = 10;
/** Number of names, with the most groups of three letters in common, that are compared letter by letter. */
export const CANDIDATES = 1_000;
/** Maximum length up to which names are compared with the typed text. */
export const LONGEST_FOLDED = 100;

/** The score of a tier, decreasing from 1; for typos, depending on their edits. */
export function relevance(tier: number, edits: number): number {
  return SCORES[TIERS[tier] ?? 'typo'] / Math.max(1, edits);
}

/** Whether a score is that of a name with a typo. */
export const isTypo = (score: number): boolean => score <= SCORES.typo;

/** The score of a distance in meters, half of the maximum at 10 km; typos score below all others. */
export function closeness(tier: number, meters: number): number {
  const close = 1 / (1 + meters / 10_000);
  return tier === TYPO ? close * SCORES.typo : SCORES.typo + (1 - SCORES.typo) * close;
}
