/** Number of ranges to read concurrently: fewer for a small page, which the first ones probably fill. */
export const concurrentRanges = (wanted: number): number => (wanted < 100 ? 4 : 16);

/** Number of items to read at once for a page: some of them may be outside the search. */
export const itemsFor = (wanted: number): number => 2 * wanted + 50;
