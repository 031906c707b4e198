/** How many rounds long tests run: the first number in `npm test`, the second with CELLPORT_SOAK=1. */
const ROUNDS = {
  /** Seeds of the simulated stream. A run of 10,000 found nothing. */
  simulatedStreams: [24, 800],
  /** How often the process that writes an embedded index is killed. */
  killsOfWriter: [1, 2],
  /** How often OpenSearch, or the server that follows the stream into it, is killed while clients write. */
  killsOfSearch: [1, 4],
  /** How often a consumer is killed while clients write, in each half of a comparison with a model, and the halves. */
  killsOfModel: [1, 3],
  halvesOfModel: [1, 2],
  /** Changes of a layout, how often the process that makes one is killed, and the phases in which it is undone. */
  killedRepartitions: [1, 2],
  killsOfRepartition: [1, 5],
  undosOfRepartition: [0, 3],
  /** Markers that no client changes, and clients, in each of these. */
  steadyMarkers: [110, 200],
  clientsOfLayout: [1, 3],
  /** Recounts that are stopped. */
  stoppedRecounts: [1, 4],
  /** Kept summaries of some markers, compared with a scan. */
  scannedSummaries: [1, 4],
  /** Key layouts, and radius queries in each of them. */
  keyLayouts: [4, 10],
  radiusQueriesOfLayout: [1, 2],
  /** Radius and k-nearest queries in each of four collections. */
  radiusQueries: [1, 5],
  /** Markers at one position, and those of a list of which nearly all are deleted. */
  crowd: [800, 3_000],
  deletedMarkers: [2_000, 20_000],
  /** Positions looked up in the borders of all countries. */
  positionsInCountries: [40, 600],
  /** Positions whose zones are compared with those that OpenSearch finds. A run of 10,000 found no difference. */
  positionsInOpenSearch: [150, 2_500],
  /** Subscriptions that start at once. */
  subscriptions: [300, 1_000],
  /** Fields of which no input may hold up the event loop: others in each run, after one of the most dangerous ones. */
  longestSteps: [1, 16],
  /** Owners whose clocks are wrong. */
  ownersOfOtherClocks: [1, 2],
  /** Color schemes in which a page is searched for accessibility faults. */
  colorSchemes: [1, 2],
  /** How fast keys are typed into the map page. */
  typingSpeeds: [1, 2],
  /** Documents of the schema with random values. A run of 300,000 found no further errors. */
  fuzzedQueries: [60, 300],
  fuzzedMutations: [20, 120],
  /** Raw inputs of each kind. */
  fuzzedInputs: [100, 500],
  /** Operations of 100 principals. A run of 1,000,000 found nothing. */
  canaries: [20_000, 20_000],
} as const satisfies Readonly<Record<string, readonly [quick: number, full: number]>>;

/** The share of all rounds to run, if it is more than `npm test` runs. */
const share = Number(process.env['CELLPORT_SOAK'] ?? 0);

/** CELLPORT_RUNS overrides both, for a longer search. */
const chosen = (quick: number, full: number): number =>
  Number(process.env['CELLPORT_RUNS'] ?? Math.max(quick, Math.ceil(share * full)));

/** The number of rounds of a test. */
export function rounds(test: keyof typeof ROUNDS): number {
  const [quick, full] = ROUNDS[test];
  return chosen(quick, full);
}

/** Runs of a slow property: a tenth in `npm test`. */
export const someOf = (runs: number): number => chosen(Math.ceil(runs / 10), runs);

/** Whether tests that start processes for tens of seconds run, as in CI. */
export const runsAll = chosen(0, 1) > 0;

const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));

let kinds = 0;

/**
 * Whether the next of several long tests runs: every nth in `npm test`, others in each run, which CELLPORT_SEED chooses, and
 * all in CI. A test that asks while it runs passes its task. Not for tests that guard access, or what others have stored.
 */
export function inTurn(nth: number): (task?: object) => boolean {
  // So that the tests of different files take different turns.
  let at = (seed + kinds++) % nth;
  const decided = new WeakMap<object, boolean>();
  return (task = {}) => {
    // A test that is repeated because it failed is not skipped.
    const isDue = decided.get(task) ?? ((at = (at + 1) % nth) === 0 || runsAll);
    decided.set(task, isDue);
    return isDue;
  };
}

/** Variants of a slow test: others in each run of `npm test`, which CELLPORT_SEED chooses, and all in CI. */
export const variants = <T>(all: readonly T[], quick = 1): readonly T[] =>
  all.map((_, at) => all[(seed + at) % all.length] as T).slice(0, chosen(quick, all.length));
