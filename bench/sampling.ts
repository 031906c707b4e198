import { ConsumptionSampler } from '../src/store/consumption/sampler.js';
import { newCall, type Call, type Database } from '../src/store/database.js';
import { batchGet, putInBulk } from '../src/store/request/batches.js';
import { rangeRequest } from '../src/store/request/ranges.js';
import { send } from '../src/store/request/send.js';
import { memoryDatabase } from '../test/support/memory-store.js';
import { shown } from './rig/statistics.js';
import type { Benchmark, Row, Section } from './section.js';

const PARTITIONS = 2_000;
const ITEMS_OF_A_QUERY = 20;
const KEYS_OF_A_BATCH = 100;
const REQUESTS = 200;
const ROUNDS = 7;

type Work = (call: Call, n: number) => Promise<unknown>;

/** Each asks for another partition than the one before, of more than the sampler has counters for: its dearest case. */
const WORK: Readonly<Record<string, Work>> = {
  [`Query of ${ITEMS_OF_A_QUERY} items`]: (call, n) =>
    send(call, 'query', rangeRequest(call.db, { index: 'entities', pk: `p${(n * 7) % PARTITIONS}` })),
  [`BatchGetItem of ${KEYS_OF_A_BATCH} keys`]: (call, n) => {
    const keys = Array.from({ length: KEYS_OF_A_BATCH }, (_, key) => ({
      pk: `p${(n * 7 + key * 11) % PARTITIONS}`,
      sk: '0',
    }));
    return batchGet(call, call.db.tables.entities, keys);
  },
};

/** Microseconds of CPU that a request takes. */
async function cpuOf(db: Database, work: Work): Promise<number> {
  const began = process.cpuUsage();
  for (let n = 0; n < REQUESTS; n += 1) await work({ ...newCall(db), unpriced: true }, n);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / REQUESTS;
}

async function run({ say }: { readonly say: (line: string) => void }): Promise<Section> {
  const db = memoryDatabase();
  const items = Array.from({ length: PARTITIONS * ITEMS_OF_A_QUERY }, (_, n) => ({
    pk: `p${n % PARTITIONS}`,
    sk: String(Math.floor(n / PARTITIONS)),
    name: `item ${n}`,
  }));
  await putInBulk(newCall(db), db.tables.entities, items);
  const rows: Row[] = [];
  for (const [what, work] of Object.entries(WORK)) {
    say(what);
    const without: number[] = [];
    const ratios: number[] = [];
    // In turns, so that other work on the machine slows down both.
    for (let round = 0; round < ROUNDS; round += 1) {
      const consumption = new ConsumptionSampler(() => performance.now());
      const plain = await cpuOf(db, work);
      const sampled = await cpuOf({ ...db, consumption }, work);
      without.push(plain);
      ratios.push(sampled / plain);
    }
    const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    rows.push({
      what: `CPU of a ${what} with the sampler`,
      bar: '',
      measured: `${shown(median(ratios), 3)} times`,
      against: `without it ${shown(median(without))} µs`,
    });
  }
  return {
    title: 'Sampling hot keys',
    rows,
    text: undefined,
  };
}

/** What it costs to sample consumed capacity by partition key. */
export const sampling: Benchmark = { name: 'sampling', hasCounts: false, run };
