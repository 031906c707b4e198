const NUMBER = Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A number with digit grouping and at most one decimal. */
export const formatNumber = (value: number): string => NUMBER.format(value);

/** A number and its noun, for example `1 place` and `2,000 places`. */
export const countOf = (value: number, noun: string): string =>
  `${formatNumber(value)} ${noun}${value === 1 ? '' : 's'}`;
