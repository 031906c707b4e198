/** One figure in the reports with its bar, the target that it must meet. */
export interface Row {
  /** What was measured. */
  readonly what: string;
  /** The bar in words, for example `at most 5`; empty if there is none. */
  readonly bar: string;
  readonly measured: string;
  /** The peer or the yardstick in the same run. */
  readonly against: string;
  /** Whether the bar holds; undefined if there is none, or if only a full run can check it. */
  readonly holds?: boolean | undefined;
  /** Whether only those who work on Cellport need it, so that it is not in docs/benchmarks.md. */
  readonly isDetail?: boolean;
}

/** The results of a benchmark. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
  /** Markdown below the rows: tables and explanations. Undefined if the results are only printed in the terminal. */
  readonly text: string | undefined;
  /** More of it, for those who work on Cellport: not in docs/benchmarks.md. */
  readonly details?: string;
  /** Whether all of it is. */
  readonly isDetail?: boolean;
}

export interface BenchOptions {
  /** Only counts, on less data, for CI: all benchmarks together take two minutes. */
  readonly quick: boolean;
  readonly say: (line: string) => void;
}

/** A benchmark: one file of this folder. */
export interface Benchmark {
  /** One word, for the command line. */
  readonly name: string;
  /** Whether it has counts that a quick run checks. */
  readonly hasCounts: boolean;
  run(options: BenchOptions): Promise<Section>;
}
