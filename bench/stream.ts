import { cityMarkers, pointsAroundCities } from './rig/points.js';
import type { Benchmark, Row, Section } from './section.js';
import { measureFirstLoad } from './stream/first-load.js';
import { measureFollowUp } from './stream/follow-up-cost.js';
import { measureLoadAlone, measureThroughput, type Round } from './stream/throughput.js';

const SEED = 7;
const MARKERS = 40_000;
const ROUNDS = 3;
const IN_ONE_CITY = 1_000;

const BARS = { one: 9, each: 0.12 };
/** On a machine with other work, as in CI, there are more batches, and more writes of the state. */
const BARS_WHEN_BUSY = { one: 12, each: 0.3 };
const MOST_UNITS_OF_A_LOAD = 0.45;
const LEAST_RATIO = 0.5;

const whole = (value: number) => Math.round(value).toLocaleString('en');
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

async function costRows(most: typeof BARS): Promise<Row[]> {
  const { one, batch } = await measureFollowUp(SEED, IN_ONE_CITY);
  const each = batch / IN_ONE_CITY;
  return [
    {
      what: 'write units that the consumer adds for a marker created alone',
      bar: `at most ${most.one}`,
      measured: `${one}`,
      against: 'its 5 blocks: 5',
      holds: one <= most.one,
    },
    {
      what: `for each of ${whole(IN_ONE_CITY)} created together in one city`,
      bar: `at most ${most.each}`,
      measured: each.toFixed(3),
      against: '',
      holds: each <= most.each,
    },
  ];
}

async function firstLoadRow(say: (line: string) => void): Promise<Row> {
  const cities = cityMarkers();
  const { units, batches, loadedMs, foldedMs } = await measureFirstLoad(cities, SEED);
  const each = units / cities.length;
  const rate = whole(cities.length / (loadedMs / 1_000));
  say(
    `${whole(cities.length)} cities at ${rate}/s in ${batches} batches; folded ${whole(foldedMs - loadedMs)} ms later`,
  );
  return {
    what: `for each of a first load of ${whole(cities.length)} cities`,
    bar: `at most ${MOST_UNITS_OF_A_LOAD}`,
    measured: each.toFixed(3),
    against: '',
    holds: each <= MOST_UNITS_OF_A_LOAD,
  };
}

async function rateRow(say: (line: string) => void): Promise<Row> {
  const markers = [...pointsAroundCities(MARKERS, SEED)];
  const alone: number[] = [];
  const rounds: Round[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    alone.push(await measureLoadAlone(markers));
    rounds.push(await measureThroughput(markers));
    const { writtenPerSecond, foldedPerSecond, batches, blocksPerMarker } = rounds.at(-1) as Round;
    say(
      `round ${round}: the load alone ${whole(alone.at(-1) ?? 0)}/s; beside the consumer ${whole(writtenPerSecond)}/s, ` +
        `folded ${whole(foldedPerSecond)}/s in ${batches} batches, ${blocksPerMarker.toFixed(2)} blocks a marker`,
    );
  }
  const ratio = median(rounds.map(({ writtenPerSecond, foldedPerSecond }) => foldedPerSecond / writtenPerSecond));
  const ofAlone = median(rounds.map(({ foldedPerSecond }, index) => foldedPerSecond / (alone[index] ?? Number.NaN)));
  return {
    what: `markers counted a second, relative to those written by a load of ${whole(MARKERS)}`,
    bar: `at least ${LEAST_RATIO}`,
    measured: `${ratio.toFixed(2)} (${whole(median(rounds.map((round) => round.foldedPerSecond)))}/s)`,
    against:
      `written ${whole(median(rounds.map((round) => round.writtenPerSecond)))}/s, ` +
      `without a consumer ${whole(median(alone))}/s, of which ${ofAlone.toFixed(2)} is counted`,
    holds: ratio >= LEAST_RATIO,
    isDetail: true,
  };
}

/** The cost and speed of the stream consumer, on DynamoDB Local in memory. */
export const streaming: Benchmark = {
  name: 'stream',
  hasCounts: true,
  async run({ quick, say }): Promise<Section> {
    const rows = await costRows(quick ? BARS_WHEN_BUSY : BARS);
    if (!quick) rows.push(await firstLoadRow(say), await rateRow(say));
    return {
      title: 'The stream: from markers to cells',
      rows,
      text: '',
      isDetail: true,
    };
  },
};
