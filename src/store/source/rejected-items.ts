import { createHash } from 'node:crypto';

import { deadLetterKey, putDeadLetters, readDeadLetters, type DeadLetter } from '../cell/dead-letters.js';
import type { Call } from '../database.js';
import { deleteInBulk } from '../request/batches.js';

/** Where rejected items of a source are listed among dead letters: each item once, as it is now. */
const ITEM = 'item';
const AT_A_TIME = 100;
/** Of more, only the number is kept. */
export const MOST_LISTED = 1_000;
/** Of more, a fill does not notice if they change meanwhile. */
const MOST_KNOWN = 1_000_000;

/** An item that matches but is no marker; without a reason, it is a marker now, or gone. */
export type Rejected = Omit<DeadLetter, 'shard' | 'sequence'>;

const letterOf = (rejected: Rejected): DeadLetter => {
  return { ...rejected, shard: ITEM, sequence: createHash('sha256').update(rejected.item).digest('hex').slice(0, 32) };
};

/** Lists which items are rejected, and no longer those that are not. The last of several about one item counts. */
export async function noteRejected(call: Call, consumer: string, items: readonly Rejected[]): Promise<void> {
  const last = [...new Map(items.map((each) => [each.item, letterOf(each)])).values()];
  const mended = last
    .filter(({ reason }) => reason === '')
    .map((letter) => deadLetterKey(call.db.keys, consumer, letter));
  await deleteInBulk(call, call.db.tables.derived, mended);
  const rejected = last.filter(({ reason }) => reason !== '');
  if (rejected.length === 0) return;
  const { letters } = await readDeadLetters(call, consumer, { first: MOST_LISTED });
  await putDeadLetters(call, consumer, rejected.slice(0, MOST_LISTED - letters.length));
}

/** Forgets all rejected items. */
export async function forgetRejected(call: Call, consumer: string): Promise<void> {
  for (;;) {
    const { letters } = await readDeadLetters(call, consumer, { first: AT_A_TIME });
    if (letters.length === 0) return;
    const keys = letters.map((letter) => deadLetterKey(call.db.keys, consumer, letter));
    await deleteInBulk(call, call.db.tables.derived, keys);
  }
}

/** The items that a fill rejects: what is known of them, in the order of its reads. */
export class RejectedItems {
  readonly #names = new Set<string>();
  readonly #listed = new Map<string, Rejected>();
  #others = 0;

  add(items: readonly Rejected[]): void {
    for (const each of items) {
      const { sequence: name } = letterOf(each);
      if (each.reason === '') {
        this.#names.delete(name);
        this.#listed.delete(name);
        continue;
      }
      if (this.#names.size < MOST_KNOWN) this.#names.add(name);
      else if (!this.#names.has(name)) this.#others += 1;
      if (this.#listed.size < MOST_LISTED || this.#listed.has(name)) this.#listed.set(name, each);
    }
  }

  get count(): number {
    return this.#names.size + this.#others;
  }

  /** Lists them instead of those listed before. */
  async store(call: Call, consumer: string): Promise<void> {
    await forgetRejected(call, consumer);
    await noteRejected(call, consumer, [...this.#listed.values()]);
  }
}
