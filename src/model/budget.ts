const PERIOD_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Period = keyof typeof PERIOD_MS;
export const PERIODS = Object.keys(PERIOD_MS) as readonly Period[];
export const MOST_UNITS = 1e9;

/** The read units that somebody may use in each period. A write unit counts as several. */
export interface Budget {
  readonly units: number;
  readonly per: Period;
}

/** The length of a budget's period in milliseconds. */
export const periodMs = ({ per }: Budget): number => PERIOD_MS[per];

/** The budget with the most units for the time; undefined if there is none. */
export function largestBudget(budgets: readonly Budget[]): Budget | undefined {
  const rate = (budget: Budget) => budget.units / periodMs(budget);
  return budgets.toSorted((a, b) => rate(b) - rate(a))[0];
}
