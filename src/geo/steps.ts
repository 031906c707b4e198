/** Long work in steps of at most a few milliseconds. Its caller may do something else after each of them. */
export type Steps<Result> = Generator<void, Result, void>;

/** The result of all steps, done at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
