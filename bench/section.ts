/** One figure of docs/benchmarks.md with the bar it is held to. */
export interface Row {
  /** What was measured. */
  readonly what: string;
  /** The bar in words, e.g. `at most 5`; a dash where there is none. */
  readonly bar: string;
  readonly measured: string;
  /** What the peer or the floor came to in the same run. */
  readonly against: string;
  /** Whether the bar holds; undefined where there is none, or where only a full run can tell. */
  readonly holds?: boolean | undefined;
}

/** What one benchmark has to say. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
  /** Markdown below the rows: tables, what the figures mean, what bounds them. */
  readonly text: string;
}

export interface BenchOptions {
  /** Counts alone, on less data: for CI, where the bars of all benchmarks together have two minutes. */
  readonly quick: boolean;
  readonly say: (line: string) => void;
}

/** A benchmark: a file of this folder. */
export interface Benchmark {
  /** One word, by which it is asked for on the command line. */
  readonly name: string;
  /** Whether it has rows that are counts, which a quick run asserts. */
  readonly hasCounts: boolean;
  run(options: BenchOptions): Promise<Section>;
}
