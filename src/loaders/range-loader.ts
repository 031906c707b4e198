import DataLoader from 'dataloader';
import type { LimitFunction } from 'p-limit';

import { INDEXES } from '../keys/indexes.js';
import type { KeyRange } from '../model/key-range.js';
import type { Item } from '../store/database.js';
import type { Budget } from './budget.js';
import { afterTurns } from '../turns.js';
import { type RangeAnswer, type ReadPage, readUnion } from './range-reader.js';
import { type RangeRequest, uniteRanges } from './range-union.js';
import { settled } from './settled.js';

/** A read of one range, and the budget to charge. */
export interface BudgetedRange extends Pick<RangeRequest, 'range' | 'limit'> {
  readonly budget: Budget;
}

export interface RangeLoader {
  (request: BudgetedRange): Promise<Omit<RangeAnswer, 'calls'>>;
  /** Drops the ranges that were read. */
  forget(): void;
}

const NOTHING: RangeAnswer = { items: [], complete: true, calls: 0 };

/** The sort key attribute of an index, or of the table of cells. */
const SORT_ATTRIBUTE = { geoA: INDEXES.geoA.sk, geoB: INDEXES.geoB.sk, cells: 'sk' } as const;

/** The sort key of an item in a range. */
export function sortKeyOf(index: KeyRange['index'], item: Item): string {
  return String(item[SORT_ATTRIBUTE[index]]);
}

const nameOf = ({ range: { index, pk, from, to }, limit, maxCalls }: RangeRequest) =>
  JSON.stringify([index, pk, from, to, String(limit), String(maxCalls)]);

/**
 * Creates a loader of ranges. Ranges requested in one tick are united where they overlap or touch, each union is read
 * once, and each caller gets exactly its slice. Each Query call is charged to the budget of every caller whose range it
 * touched. If a union fails, only its own callers fail. `slots` limits concurrent Query calls.
 */
export function createRangeLoader(read: ReadPage, slots: LimitFunction): RangeLoader {
  const inSlot: ReadPage = (...page) => slots(() => read(...page));

  const loader = new DataLoader<RangeRequest, RangeAnswer, string>(
    (requests) => {
      const answers = new Map<RangeRequest, Promise<RangeAnswer>>();
      for (const union of uniteRanges(requests)) {
        const slices = readUnion(union, inSlot, (item) => sortKeyOf(union.range.index, item));
        const slice = async (index: number) => (await slices)[index] ?? NOTHING;
        union.requests.forEach((request, index) => answers.set(request, slice(index)));
      }
      return settled(requests.map((request) => answers.get(request) ?? NOTHING));
    },
    { cacheKeyFn: nameOf, batchScheduleFn: afterTurns },
  );
  const load = async ({ range, limit, budget }: BudgetedRange) => {
    const { calls, ...answer } = await loader.load({ range, limit, maxCalls: budget.calls });
    budget.debit({ calls });
    return answer;
  };
  return Object.assign(load, { forget: () => void loader.clearAll() });
}
