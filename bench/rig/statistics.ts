export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The mean; 0 for an empty list. */
export const mean = (values: readonly number[]): number => sum(values) / Math.max(1, values.length);

/** The quantile of values for a share (0.5 is the median); 0 for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** A figure as printed in a table. */
export const shown = (value: number, digits = 1): string =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Rows of cells as a Markdown table; the first row is the header. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const [head = [], ...rest] = rows;
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rest.map(line)].join('\n');
}
