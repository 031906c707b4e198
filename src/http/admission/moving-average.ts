/** Weight of the latest value in a moving average. */
const LATEST = 0.2;

/** A moving average with its latest value; `before` is undefined before the first one. */
export const average = (before: number | undefined, latest: number): number =>
  before === undefined ? latest : before + LATEST * (latest - before);
