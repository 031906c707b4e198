import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import { DAY_MS, expiredUpTo, monthEnd } from '../model/reading.js';
import { everyCollection } from '../store/collection/collections.js';
import { newCall, type Database } from '../store/database.js';
import {
  coolMonthTable,
  deleteMonthTable,
  ensureMonthTable,
  isCold,
  listMonths,
  mayGo,
  monthsAhead,
  monthTable,
} from '../store/table/month-tables.js';

/** Clocks differ by less. */
const MARGIN_MS = DAY_MS;

/** The time, in milliseconds since 1970, up to which the readings of all collections have expired. */
function allExpiredUpTo(collections: readonly Collection[], now: number): number {
  return Math.min(...collections.map(({ readingsTtlDays }) => expiredUpTo(readingsTtlDays, now) ?? -Infinity));
}

const isMonthly = ({ readingsTable }: Collection) => readingsTable === 'MONTHLY';

/** Keeps the tables of months of readings. Any number of processes may do so at the same time. */
export class MonthKeeper {
  readonly #database: Database;
  readonly #log: Log;
  /** Months whose tables need no more changes. */
  readonly #cold = new Set<string>();

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  /**
   * Creates the table of the next month some days before it begins, puts those of old months on cheaper settings, and
   * deletes those whose readings have expired in all of these collections. `now` is in milliseconds since 1970.
   */
  async keep(collections: readonly Collection[], now: number): Promise<void> {
    const monthly = collections.filter(isMonthly);
    if (monthly.length === 0) return;
    const expired = allExpiredUpTo(monthly, now) - MARGIN_MS;
    for (const month of (await listMonths(this.#database)).filter((each) => isCold(each, now))) {
      if (monthEnd(month) <= expired && mayGo(month, now) && (await this.#hasExpired(month, now))) {
        await deleteMonthTable(this.#database, month);
        this.#log.info(
          { table: monthTable(this.#database.tables, month) },
          'Deleted a table whose readings have all expired',
        );
      } else if (!this.#cold.has(month)) {
        await coolMonthTable(this.#database, month);
        this.#cold.add(month);
      }
    }
    // Fails if another's table has the name of one of them.
    for (const month of monthsAhead(now)) await ensureMonthTable(this.#database, month, now);
  }

  /** Whether a month's readings have expired in all collections there are now: one may have been created since. */
  async #hasExpired(month: string, now: number): Promise<boolean> {
    const monthly: Collection[] = [];
    for await (const some of everyCollection(newCall(this.#database), 'in use', { consistent: true })) {
      monthly.push(...some.filter(isMonthly));
    }
    return monthEnd(month) <= allExpiredUpTo(monthly, now) - MARGIN_MS;
  }
}
