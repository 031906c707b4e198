import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { Collection, SpreadPrefix } from '../model/collection.js';
import type { Database } from '../store/database.js';
import { completeSpread } from '../store/collection/spread.js';
import { newCall } from '../store/request/meter.js';

export interface SpreaderOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds after which no reader still uses a collection as it was before. */
  readonly settleMs: number;
  readonly log: Log;
}

/**
 * Lets writers spread a prefix once this process has seen for long enough that readers gather it. Any number of processes
 * may do so: the last to see it is only later.
 */
export class Spreader {
  readonly #options: SpreaderOptions;
  /** When prefixes were first seen to be gathered. */
  readonly #seen = new Map<string, number>();

  constructor(options: SpreaderOptions) {
    this.#options = options;
  }

  /** Looks at collections as they were read since the call before. */
  async look(collections: readonly Collection[]): Promise<void> {
    const { database, clock, settleMs, log } = this.#options;
    const nameOf = ({ key, createdAt }: Collection, { prefix, geoSlot }: SpreadPrefix) =>
      [key, createdAt, geoSlot, prefix].join('\n');
    const gathered = new Set<string>();
    for (const collection of collections) {
      const gathering = (collection.spread ?? []).filter(({ phase }) => phase === 'GATHER');
      const known = gathering.filter((each) => {
        const name = nameOf(collection, each);
        gathered.add(name);
        const seen = this.#seen.get(name) ?? clock.now();
        this.#seen.set(name, seen);
        return clock.now() - seen >= settleMs;
      });
      if (known.length === 0) continue;
      const isKnown = ({ prefix, geoSlot }: SpreadPrefix) =>
        known.some((each) => each.prefix === prefix && each.geoSlot === geoSlot);
      await completeSpread(database, collection, isKnown, newCall());
      const prefixes = known.map(({ prefix }) => prefix);
      log.info(
        { collection: collection.key, prefixes },
        'every reader gathers these prefixes; writers spread them now',
      );
    }
    // The same prefix may be spread again after a repartition.
    for (const name of this.#seen.keys()) if (!gathered.has(name)) this.#seen.delete(name);
  }
}
