import type { Clock } from '../clock.js';
import type { StreamState } from '../store/cell/stream-state.js';
import { DERIVED_FORMAT, type StreamRecord } from '../stream/change.js';

const LOOK_EVERY_MS = 1_000;
/** When the time of a record is past for certain, and its shard in listings. */
const TOLD_WITHIN_MS = 60_000;

/** How far the consumer of a source is, compared with an index that reads the same stream, and may be ahead. */
export class SourceProgress {
  readonly #load: () => Promise<StreamState | undefined>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  /** The last record that the index has read of each shard that goes on. */
  readonly #lastRead = new Map<string, Pick<StreamRecord, 'sequence' | 'at'>>();

  /** Waits reject with the signal's reason. */
  constructor(load: () => Promise<StreamState | undefined>, clock: Clock, signal: AbortSignal) {
    this.#load = load;
    this.#clock = clock;
    this.#signal = signal;
  }

  async #rest(): Promise<void> {
    await this.#clock.sleep(LOOK_EVERY_MS, this.#signal);
    this.#signal.throwIfAborted();
  }

  /** The consumer's state, once there are pages. */
  async filled() {
    for (;;) {
      const state = await this.#load();
      const { generation } = state?.pages ?? state?.formerPages ?? {};
      if (state?.layout === DERIVED_FORMAT && generation !== undefined)
        return { state, generation, name: `${state.stream} ${generation}` };
      await this.#rest();
    }
  }

  /** Notes that the index goes on after a record that it read before. */
  noteStart(shard: string, sequence: string): void {
    if (!this.#lastRead.has(shard)) this.#lastRead.set(shard, { sequence, at: this.#clock.wall() });
  }

  noteRead(shard: string, records: readonly StreamRecord[]): void {
    const last = records.at(-1);
    if (last) this.#lastRead.set(shard, last);
  }

  /** Waits until the consumer has applied what the index has read of a shard, or there are other pages. */
  async applied(shard: string): Promise<void> {
    const { sequence, at } = this.#lastRead.get(shard) ?? { sequence: '0', at: 0 };
    const isIn = (last: string | undefined) => BigInt(last ?? 0) >= BigInt(sequence);
    const begun = await this.filled();
    for (let now = begun; now.name === begun.name; now = await this.filled()) {
      const { plan, listedAt, shards } = now.state;
      // The consumer skips what a fill has read; and a shard that it does not find is gone.
      const isPast = (shards[shard]?.since ?? listedAt) > at + TOLD_WITHIN_MS && !isIn(plan?.[shard]?.to);
      if (isIn(shards[shard]?.after) || isPast) return;
      await this.#rest();
    }
  }

  async appliedAll(): Promise<void> {
    for (const shard of this.#lastRead.keys()) await this.applied(shard);
  }

  /** Waits likewise at the end of a shard, of which there is then nothing to wait for. */
  async ended(shard: string): Promise<void> {
    await this.applied(shard);
    this.#lastRead.delete(shard);
  }
}
