import { LRUCache } from 'lru-cache';

import { CacheUse } from './cache-use.js';

/** Records when a read began, so that its result does not replace later changes. */
export interface FillToken {
  readonly at: number;
  readonly generation: number;
}

export interface FollowedCacheOptions {
  /** Maximum size in bytes; 0 turns the cache off. */
  readonly maxBytes: number;
  /** Whether `changed` is currently called for every change of the value with this name soon after it is written. */
  readonly trusted: (name: string) => boolean;
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
}

/** How long a read may take, or an eventually consistent one may lag, and still be recognized. */
export const REMEMBERED_MS = 30_000;
/** Maximum memory for remembered changes, and that of one besides its name. */
const REMEMBERED_BYTES = 8 * 1024 * 1024;
const CHANGE_BYTES = 150;
/** How long an eventually consistent read may lag, in milliseconds. */
export const LAG_MS = 2_000;

/**
 * A cache of stored values, limited in bytes, that the stream keeps current.
 *
 * A read that began before a change, or an eventually consistent one that lags behind it, returns a value without that
 * change. Such a value must not be kept, because no later change would correct it. So the last version of each changed
 * value is remembered for longer than any read takes, and an older value is used once but not kept.
 */
export abstract class FollowedCache<Value extends object> {
  readonly #options: FollowedCacheOptions;
  readonly #entries: LRUCache<string, { readonly value: Value; readonly filledAt: number }> | undefined;
  /** Minimum version for a value to be kept, and when it was learned; oldest first. */
  readonly #changed = new Map<string, { readonly version: number; readonly at: number }>();
  /** Reads that began before this time cannot be checked: the changes to check them against were evicted. */
  #blindUntil = -Infinity;
  #changedBytes = 0;
  #generation = 0;
  readonly #use = new CacheUse();

  constructor(options: FollowedCacheOptions) {
    this.#options = options;
    const { maxBytes: maxSize } = options;
    if (maxSize > 0)
      this.#entries = new LRUCache({ maxSize, sizeCalculation: ({ value }, name) => this.bytesOf(value, name) });
  }

  /** How long values are used while changes are not followed. */
  protected abstract readonly untrustedMs: number;
  protected abstract bytesOf(value: Value, name: string): number;
  /** Of two states of a value, the one with the higher version is newer. */
  protected abstract versionOf(value: Value): number;

  #isUsed(name: string, filledAt: number): boolean {
    const { trusted, now } = this.#options;
    return trusted(name) || now() - filledAt < this.untrustedMs;
  }

  #find(name: string): Value | undefined {
    const entry = this.#entries?.get(name);
    return entry && this.#isUsed(name, entry.filledAt) ? entry.value : undefined;
  }

  get(name: string): Value | undefined {
    return this.#use.counted(this.#find(name));
  }

  readonly figures = () => this.#use.figures(this.#entries?.calculatedSize);

  /** Call before a read whose values will be put. */
  begin(): FillToken {
    return { at: this.#options.now(), generation: this.#generation };
  }

  /** Adds a value found by a read. Returns the newest one that is used, which may be another. */
  put(name: string, value: Value, { at, generation }: FillToken): Value {
    const known = this.#find(name);
    const version = this.versionOf(value);
    if (known && this.versionOf(known) > version) return known;
    const isRecent = this.#options.now() - at < REMEMBERED_MS && at > this.#blindUntil;
    const isChecked = generation === this.#generation && isRecent;
    const isNew = version >= (this.#changed.get(name)?.version ?? 0);
    if (isChecked && isNew && this.#isUsed(name, at)) this.#entries?.set(name, { value, filledAt: at });
    return value;
  }

  /**
   * Records that a value was changed: it is dropped or, if it lacks the change, updated. Call for every change, in
   * order.
   */
  changed(name: string, version: number, update?: (value: Value) => Value): void {
    if (!this.#entries) return;
    const at = this.#options.now();
    this.#forget(name);
    this.#changed.set(name, { version, at });
    this.#changedBytes += CHANGE_BYTES + name.length;
    for (const [oldest, known] of this.#changed) {
      const isOld = at - known.at > REMEMBERED_MS;
      if (!isOld && this.#changedBytes <= REMEMBERED_BYTES) break;
      if (!isOld) this.#blindUntil = known.at + LAG_MS;
      this.#forget(oldest);
    }
    const entry = this.#entries.peek(name);
    if (!entry || this.versionOf(entry.value) >= version) return;
    if (update) this.#entries.set(name, { ...entry, value: update(entry.value) });
    else this.#entries.delete(name);
  }

  #forget(name: string): void {
    if (this.#changed.delete(name)) this.#changedBytes -= CHANGE_BYTES + name.length;
  }

  /** Drops everything, including reads in progress, after changes may have been missed. */
  clear(): void {
    this.#generation++;
    this.#entries?.clear();
    this.#changed.clear();
    this.#changedBytes = 0;
    // A read that begins now may lag behind these changes.
    this.#blindUntil = this.#options.now() + LAG_MS;
  }

  /** Drops the values whose names begin so. Reads in progress may still add some. */
  protected dropBeginning(prefix: string): void {
    for (const name of this.#entries?.keys() ?? []) if (name.startsWith(prefix)) this.#entries?.delete(name);
  }
}
