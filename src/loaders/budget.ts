import type { Limits } from '../model/limits.js';

/**
 * The number of Query calls and items that one page, or one field without pages, may still read. One is created for
 * each, passed to the loaders, and charged by them: for each Query call made on its behalf, shared or not, and for each
 * marker read. Answers from a cache cost no call.
 */
export class Budget {
  readonly #whole: Budget | undefined;
  #calls: number;
  #items: number;

  constructor(calls: number, items: number, whole?: Budget) {
    this.#calls = calls;
    this.#items = items;
    this.#whole = whole;
  }

  /** The budget of a page, or of a field without pages. */
  static of({ queryCalls, itemsPerField }: Limits): Budget {
    return new Budget(queryCalls, itemsPerField);
  }

  /** Query calls left. */
  get calls(): number {
    return Math.max(0, this.#calls);
  }

  /** Items left. */
  get items(): number {
    return Math.max(0, this.#items);
  }

  /** The equal share of each of `reads` concurrent reads: at least one call, so that each makes progress. */
  share(reads: number): Budget {
    return this.upTo(Math.floor(this.calls / reads));
  }

  /** A part of this budget with at most the given calls, and at least one. */
  upTo(calls: number): Budget {
    return new Budget(Math.max(1, Math.min(calls, this.calls)), this.items, this);
  }

  debit({ calls = 0, items = 0 }: { readonly calls?: number; readonly items?: number }): void {
    this.#calls -= calls;
    this.#items -= items;
    this.#whole?.debit({ calls, items });
  }
}
