/** Long work in steps of at most a few milliseconds, between which the caller may do other work. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps at once; returns the result. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
