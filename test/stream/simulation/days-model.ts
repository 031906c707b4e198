import type { MarkerDay } from '../../../src/keys/derived-keyspace.js';
import { createKeyspace } from '../../../src/keys/keyspace.js';
import type { Collection } from '../../../src/model/collection.js';
import type { DueDay, KeptDay, OpenDay, StoredDay } from '../../../src/store/reading/kept-days.js';
import { dayOfReading, nameOfDay } from '../../../src/stream/days/fold.js';
import type { DaysPort } from '../../../src/stream/ports.js';
import type { TableModel } from './table-model.js';
import type { World } from './world.js';

const keys = createKeyspace('readable');

/** The only collection that keeps summaries; its readings never expire. */
export const SUMMARIZED = 'parks';
const COLLECTION = { key: SUMMARIZED, readingsTtlDays: null, readingsSummarized: true } as unknown as Collection;

/** The days over which readings are spread. The simulation begins in 1970, so all are over. */
const DAYS = ['1969-12-27', '1969-12-28', '1969-12-29'];

/** Records a reading, replaces one, or deletes one. */
export function writeReading(table: TableModel, { chance }: World): void {
  const day = chance.pick(DAYS);
  const of = { scope: chance.pick([SUMMARIZED, 'cafés']), key: `m${chance.integer(1, 3)}` };
  const { pk, sk } = keys.reading(of, `${day}T0${chance.integer(0, 3)}:00:00.000Z`);
  const value = String(chance.integer(-9, 9));
  table.write(pk, sk, chance.happens(0.2) ? undefined : { values: { M: { n: { N: value } } } });
}

/** The readings of each day as text, with as little code as possible. */
function summariesOf(table: TableModel): Map<string, string> {
  const days = new Map<string, string>();
  for (const { pk, sk, values } of [...table.items.values()].toSorted((a, b) =>
    String(a['sk']?.['S']) < String(b['sk']?.['S']) ? -1 : 1,
  )) {
    const day = dayOfReading(keys, String(pk?.['S']), String(sk?.['S']));
    if (day?.scope !== SUMMARIZED || values === undefined) continue;
    days.set(nameOfDay(day), `${days.get(nameOfDay(day)) ?? ''}${JSON.stringify([sk, values])} `);
  }
  return days;
}

type Call = <T>(effect: () => T) => Promise<T>;

/** The summaries of readings, as DynamoDB stores them. */
export class DaysModel {
  readonly #days = new Map<string, StoredDay>();
  readonly #due = new Map<string, DueDay>();
  #tokens = 0;
  closed = 0;

  get isDone(): boolean {
    return this.#due.size === 0;
  }

  put(day: MarkerDay, epoch: number, kept?: KeptDay): OpenDay {
    const version = `${(this.#tokens += 1)}`;
    this.#days.set(nameOfDay(day), { version, epoch, kept });
    return { version, epoch };
  }

  list(day: MarkerDay): void {
    this.#due.set(nameOfDay(day), { ...day, token: `${(this.#tokens += 1)}` });
  }

  #isUnchanged(day: MarkerDay, { version, epoch }: OpenDay): boolean {
    const found = this.#days.get(nameOfDay(day));
    return found?.version === version && found.epoch === epoch;
  }

  close(day: MarkerDay, seen: OpenDay, kept: KeptDay | undefined, conditional = true): boolean {
    if (conditional && !this.#isUnchanged(day, seen)) return false;
    this.closed += 1;
    if (kept === undefined) this.#days.delete(nameOfDay(day));
    else this.put(day, seen.epoch, kept);
    return true;
  }

  forget(due: DueDay, conditional = true): void {
    const found = this.#due.get(nameOfDay(due));
    if (!conditional || found?.token === due.token) this.#due.delete(nameOfDay(due));
  }

  async *#listed(call: Call): AsyncGenerator<readonly DueDay[]> {
    yield await call(() => [...this.#due.values()]);
  }

  /** The port of a process, whose calls may fail, also in part. */
  port(table: TableModel, call: Call): DaysPort {
    return {
      collections: () => call(() => new Map([[SUMMARIZED, COLLECTION]])),
      open: async (days, epoch) => {
        await Promise.all(days.map((day) => call(() => this.put(day, epoch))));
        await Promise.all(days.map((day) => call(() => this.list(day))));
      },
      due: () => this.#listed(call),
      read: (days) => call(() => days.map((day) => this.#days.get(nameOfDay(day)))),
      claim: (day, seen, epoch) => call(() => (this.#isUnchanged(day, seen) ? this.put(day, epoch) : undefined)),
      summarize: (_, day) =>
        call(() => {
          const text = summariesOf(table).get(nameOfDay(day));
          return text === undefined ? undefined : { incarnation: '', text };
        }),
      close: (day, seen, kept) => call(() => this.close(day, seen, kept)),
      forget: (due) => call(() => this.forget(due)),
      remove: (days) => call(() => days.forEach((day) => this.#days.delete(nameOfDay(day)))),
    };
  }

  /** What differs between the summaries and the readings, once no day is due. */
  differences(table: TableModel): string[] {
    const expected = summariesOf(table);
    return [...new Set([...expected.keys(), ...this.#days.keys()])].flatMap((name) => {
      const stored = this.#days.get(name);
      const found = stored && (stored.kept?.text ?? 'open');
      return found === expected.get(name)
        ? []
        : [`the summaries of ${JSON.stringify(name)} are ${found}, must be ${expected.get(name)}`];
    });
  }
}
