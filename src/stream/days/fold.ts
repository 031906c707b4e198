import type { MarkerDay } from '../../keys/derived-keyspace.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { isInstant } from '../../model/instant.js';
import { dayOf } from '../../model/reading-summary.js';
import type { WireImage } from '../change.js';

/** Identifies a day. */
export const nameOfDay = ({ scope, key, day }: MarkerDay) => `${scope}\n${key}\n${day}`;

/** The day of the reading that has this key; undefined for any other item. */
export function dayOfReading(keys: Keyspace, pk: string, sk: string): MarkerDay | undefined {
  const { scope, key, instant } = keys.parseReading({ pk, sk }) ?? {};
  if (scope === undefined || key === undefined || instant === undefined || !isInstant(instant)) return undefined;
  return { scope, key, day: dayOf(instant) };
}

/** The days of changed readings. */
export class DayFold {
  readonly #days = new Map<string, MarkerDay>();
  readonly #keys: Keyspace;

  constructor(keys: Keyspace) {
    this.#keys = keys;
  }

  /** Adds the day of the item with these keys, if it is a reading. */
  add({ pk, sk }: WireImage): void {
    const day = dayOfReading(this.#keys, String(pk?.['S']), String(sk?.['S']));
    if (day !== undefined) this.#days.set(nameOfDay(day), day);
  }

  get size(): number {
    return this.#days.size;
  }

  changes(): MarkerDay[] {
    return [...this.#days.values()];
  }
}
