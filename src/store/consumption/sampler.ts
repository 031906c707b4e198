import { fewNames } from '../../model/few-names.js';
import { attribute, type Answer, type Request } from './attribution.js';
import { TopKeys, weightOf, type Units } from './top-keys.js';

/** Half of the maximum time that a report covers. */
const HALF_MS = 30_000;
/** The minimum: a shorter one says little about the rate per second. */
const SHORTEST_MS = 10_000;
/** With these, a key lacks at most a 256th of what this server consumes. */
const COUNTERS = 256;

/** A partition key with what it consumes. */
export interface HotKey extends Units {
  readonly table: string;
  /** Null for the table itself. */
  readonly index: string | null;
  readonly key: string;
  /** Share of what the server consumes, 0 to 1; a write unit weighs as much as three read units. */
  readonly share: number;
}

/** What a server consumes, in units a second, and its hottest partition keys, the hottest first. */
export interface Consumption extends Units {
  /** The time that this is a mean of: 30 to 60 s, less after the start. */
  readonly seconds: number;
  readonly keys: readonly HotKey[];
  /** The maximum that a key may lack, as a share of what the server consumes. */
  readonly missedAtMost: number;
}

/** All units since the start of one table or index. */
export interface Total extends Units {
  readonly table: string;
  readonly index: string | null;
}

/** What is consumed during half a window. */
class Half {
  readonly top = new TopKeys(COUNTERS);
  readonly all = new Sum();
}

class Sum implements Units {
  readUnits = 0;
  writeUnits = 0;

  add({ readUnits, writeUnits }: Units): void {
    this.readUnits += readUnits;
    this.writeUnits += writeUnits;
  }
}

/** What a partition key of a table (index null) or of an index says about the collection that it belongs to. */
type ScopeOf = (table: string, index: string | null, pk: string) => unknown;

/** The sum with this name, a new one if there is none. */
function sumOf(sums: Map<string, Sum>, name: string): Sum {
  const sum = sums.get(name) ?? new Sum();
  sums.set(name, sum);
  return sum;
}

const counterKey = (...parts: readonly string[]) => parts.join('\n');

/** Names of tables and indexes have no line breaks; keys may. */
function partsOf(name: string): { readonly table: string; readonly index: string | null; readonly key: string } {
  const [table = '', index = '', ...key] = name.split('\n');
  return { table, index: index === '' ? null : index, key: key.join('\n') };
}

/** Samples what this process consumes of DynamoDB, by partition key, over the last half to whole minute. */
export class ConsumptionSampler {
  readonly #now: () => number;
  /** When the current half began. */
  #began: number;
  #current = new Half();
  #before: Half | undefined;
  readonly #totals = new Map<string, Sum>();
  readonly #collections = new Map<string, Sum>();
  readonly #requests = new Map<string, number>();
  readonly #scopeOf: ScopeOf;
  readonly #few = fewNames();

  /** `now` in milliseconds of a clock that never goes back; with `scopeOf`, the units of collections are also added up. */
  constructor(now: () => number, scopeOf: ScopeOf = () => undefined) {
    this.#now = now;
    this.#scopeOf = scopeOf;
    this.#began = now();
  }

  /** Records a request of an operation, and what it consumed. */
  note(request: Request, answer: Answer, writes: boolean, operation: string): void {
    this.#turn();
    this.#requests.set(operation, (this.#requests.get(operation) ?? 0) + 1);
    attribute(request, answer, (table, index = '', pk, amount) => {
      const units = { readUnits: writes ? 0 : amount, writeUnits: writes ? amount : 0 };
      sumOf(this.#totals, counterKey(table, index)).add(units);
      this.#current.all.add(units);
      if (typeof pk === 'string' || typeof pk === 'number' || typeof pk === 'bigint') {
        this.#current.top.add(counterKey(table, index, String(pk)), units);
        const scope = this.#scopeOf(table, index === '' ? null : index, String(pk));
        if (typeof scope === 'string') sumOf(this.#collections, this.#few(scope)).add(units);
      }
    });
  }

  /** The `most` hottest keys. */
  report(most: number): Consumption {
    this.#turn();
    const halves = [this.#before, this.#current].filter((half) => half !== undefined);
    const all = new Sum();
    const byName = new Map<string, Sum>();
    for (const half of halves) {
      all.add(half.all);
      for (const [name, units] of half.top.entries()) sumOf(byName, name).add(units);
    }
    const covered = this.#now() - this.#began + (this.#before === undefined ? 0 : HALF_MS);
    const seconds = Math.max(SHORTEST_MS, covered) / 1_000;
    const weight = Math.max(weightOf(all), Number.MIN_VALUE);
    const aSecond = (units: Units) => ({
      readUnits: units.readUnits / seconds,
      writeUnits: units.writeUnits / seconds,
    });
    const keys = [...byName]
      .toSorted(([, a], [, b]) => weightOf(b) - weightOf(a))
      .slice(0, most)
      .map(([name, units]) => ({ ...partsOf(name), ...aSecond(units), share: weightOf(units) / weight }));
    const missed = halves.reduce((sum, { top }) => sum + top.missedAtMost, 0);
    return { seconds, ...aSecond(all), keys, missedAtMost: missed / weight };
  }

  /** All units since the start of collections, by the names that these have in keys. */
  collections(): (Units & { readonly collection: string })[] {
    return [...this.#collections].map(([collection, { readUnits, writeUnits }]) => ({
      collection,
      readUnits,
      writeUnits,
    }));
  }

  /** The number of requests since the start, by operation. */
  requests(): ReadonlyMap<string, number> {
    return this.#requests;
  }

  totals(): Total[] {
    return [...this.#totals].map(([name, { readUnits, writeUnits }]) => {
      const { table, index } = partsOf(name);
      return { table, index, readUnits, writeUnits };
    });
  }

  /** Begins the next half when the current one is over; discards both if a whole half has passed since. */
  #turn(): void {
    const over = this.#now() - this.#began;
    if (over < HALF_MS) return;
    this.#before = over < 2 * HALF_MS ? this.#current : undefined;
    this.#current = new Half();
    this.#began += HALF_MS * Math.floor(over / HALF_MS);
  }
}
