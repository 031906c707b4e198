import { TYPO } from './score.js';

/** A hit's position in the order: tier, then edits of a typo or meters, then rank, then ID. */
export type HitOrder = readonly [tier: number, by: number, rank: number, id: string];

export const compareOrders = (a: HitOrder, b: HitOrder): number =>
  a[0] - b[0] || difference(a[1], b[1]) || b[2] - a[2] || (a[3] < b[3] ? -1 : a[3] > b[3] ? 1 : 0);

/** Infinite distances are equal. */
const difference = (a: number, b: number) => (a === b ? 0 : a - b);

/** Parses a position returned by `search`; undefined for other texts. */
export function parseOrder(text: string): HitOrder | undefined {
  try {
    const parts: unknown = JSON.parse(text);
    if (!Array.isArray(parts) || parts.length !== 4) return undefined;
    const [tier, by, rank, id] = parts as unknown[];
    const isTier = typeof tier === 'number' && tier >= 0 && tier <= TYPO;
    if (!isTier || typeof rank !== 'number' || typeof id !== 'string') return undefined;
    // JSON has no Infinity, so null is the distance of documents without a position.
    if (by !== null && typeof by !== 'number') return undefined;
    return [tier, by ?? Infinity, rank, id];
  } catch {
    return undefined;
  }
}
