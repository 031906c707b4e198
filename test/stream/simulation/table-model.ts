import type { StreamRecord, WireImage } from '../../../src/stream/change.js';
import {
  NoStream,
  StreamFailure,
  type ListedShard,
  type RecordBatch,
  type ShardStart,
} from '../../../src/stream/ports.js';
import type { World } from './world.js';

/** How long DynamoDB keeps a stream record. */
export const RETENTION_MS = 24 * 3_600_000;
const ITERATOR_LIVES_MS = 15 * 60_000;

interface Stored {
  readonly record: StreamRecord;
  readonly number: bigint;
  readonly at: number;
  /** When it becomes visible to readers. */
  readonly visibleAt: number;
}

interface Shard {
  readonly stream: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly openedAt: number;
  closedAt: number | undefined;
  /** Items with a hash from `from` to below `to` are written to this shard while it is open. */
  readonly from: number;
  readonly to: number;
  records: Stored[];
  /** The last record that was trimmed. */
  trimmedTo: bigint | undefined;
}

interface Iterator {
  readonly shard: Shard;
  /** The record at which to stop; undefined for the oldest one. */
  readonly after: bigint | undefined;
  readonly inclusive: boolean;
  readonly madeAt: number;
  /** Number of empty answers before it although records follow. */
  readonly empty: number;
}

/** More are so rare in a real stream that nobody waits for them. */
const MOST_EMPTY = 2;

const hashOf = (text: string) => {
  let hash = 7;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return (hash % 1_000) / 1_000;
};

/** The table of entities with its stream, as a reader of the stream sees it. */
export class TableModel {
  readonly items = new Map<string, WireImage>();
  /** All records ever written. */
  readonly history: StreamRecord[] = [];
  /** When each of them was written. */
  readonly writtenAt: number[] = [];
  stream = 'stream-1';
  /** Whether there was ever another stream. */
  wasReplaced = false;
  /** Whether the stream was ever disabled. */
  switched = false;
  #on = true;
  /** Whether the stream shows every irregularity that its documentation allows. */
  faulty = true;
  /** Whether it reports trimmed records, as DynamoDB does but DynamoDB Local does not. */
  readonly saysTrimmed: boolean;
  lastWriteAt = 0;
  readonly #world: World;
  #shards: Shard[] = [];
  readonly #iterators = new Map<string, Iterator>();
  #sequence = 90n;
  #names = 0;

  constructor(world: World) {
    this.#world = world;
    this.saysTrimmed = world.chance.happens(0.5);
    this.#open(0, 1, undefined);
  }

  #open(from: number, to: number, parent: string | undefined): void {
    this.#names += 1;
    this.#shards.push({
      stream: this.stream,
      id: `shard-${String(this.#names).padStart(3, '0')}`,
      parent,
      openedAt: this.#world.now,
      closedAt: undefined,
      from,
      to,
      records: [],
      trimmedTo: undefined,
    });
  }

  /** Writes an item, or deletes it without `image`, and adds a record unless nothing changes. */
  write(pk: string, sk: string, image: Readonly<Record<string, unknown>> | undefined): void {
    const name = `${pk}#${sk}`;
    const keys = { pk: { S: pk }, sk: { S: sk } };
    const before = this.items.get(name);
    const after = image === undefined ? undefined : { ...keys, ...(image as WireImage) };
    if (before === undefined && after === undefined) return;
    if (after === undefined) this.items.delete(name);
    else this.items.set(name, after);
    // Putting an equal item creates no record, and neither does any write while the stream is disabled.
    if (JSON.stringify(before) === JSON.stringify(after) || !this.#on) return;
    this.#sequence += BigInt(this.#world.chance.integer(1, 9));
    const event = before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY';
    const record = {
      sequence: String(this.#sequence),
      event,
      at: Math.floor(this.#world.now / 1_000) * 1_000,
      keys,
      before,
      after,
    };
    const hash = hashOf(pk);
    const shard = this.#shards.find(({ closedAt, from, to }) => closedAt === undefined && hash >= from && hash < to)!;
    const at = this.#world.now;
    const latest = shard.records.at(-1)?.visibleAt ?? 0;
    const visibleAt = Math.max(latest, at + (this.faulty ? this.#world.chance.integer(0, 80) : 0));
    shard.records.push({ record, number: this.#sequence, at, visibleAt });
    this.history.push(record);
    this.writtenAt.push(at);
    this.lastWriteAt = at;
  }

  /** Closes an open shard and opens one or two in its place. */
  splitSomeShard(): void {
    if (!this.#on) return;
    const shard = this.#world.chance.pick(this.#shards.filter(({ closedAt }) => closedAt === undefined));
    shard.closedAt = this.#world.now;
    if (this.#world.chance.happens(0.5)) {
      this.#open(shard.from, shard.to, shard.id);
      return;
    }
    const middle = (shard.from + shard.to) / 2;
    this.#open(shard.from, middle, shard.id);
    this.#open(middle, shard.to, shard.id);
  }

  /** Trims records that are too old. */
  trim(): void {
    const before = this.#world.now - RETENTION_MS;
    for (const shard of this.#shards) {
      const kept = shard.records.filter(({ at }) => at >= before);
      const forgotten = shard.records.at(shard.records.length - kept.length - 1);
      if (kept.length < shard.records.length && forgotten !== undefined) shard.trimmedTo = forgotten.number;
      shard.records = kept;
    }
    this.#shards = this.#shards.filter(({ closedAt }) => closedAt === undefined || closedAt >= before);
  }

  /** The same table created again: empty, with another stream. */
  makeAnew(): void {
    this.items.clear();
    this.#shards = [];
    this.wasReplaced = true;
    this.#openStream();
  }

  #openStream(): void {
    this.stream = `stream-${Number(this.stream.slice(7)) + 1}`;
    this.#open(0, 1, undefined);
  }

  /** Disables the stream, and enables another one after a while. The old one can still be read. */
  switchStream(offMs: number): void {
    if (!this.#on) return;
    this.#on = false;
    this.switched = true;
    this.wasReplaced = true;
    for (const shard of this.#shards) shard.closedAt ??= this.#world.now;
    this.#world.schedule(offMs, () => {
      this.#on = true;
      this.#openStream();
    });
  }

  identify(): string {
    if (!this.#on) throw new NoStream('the stream is off');
    return this.stream;
  }

  #shardsOf(stream: string): Shard[] {
    const found = this.#shards.filter((shard) => shard.stream === stream);
    if (found.length === 0) throw new StreamFailure('gone');
    return found;
  }

  listShards(stream: string, after: string | undefined): { shards: ListedShard[]; more: boolean } {
    const { chance, now } = this.#world;
    const all = this.#shardsOf(stream)
      // A listing lags: the youngest shards may be missing, and sometimes an old one.
      .filter(({ openedAt }) => !this.faulty || openedAt < now - chance.integer(0, 300))
      .filter(({ closedAt }) => !this.faulty || closedAt === undefined || !chance.happens(0.05))
      .filter(({ id }) => after === undefined || id > after);
    const page = all.slice(0, chance.integer(1, 4));
    return { shards: page.map(({ id, parent }) => ({ id, parent })), more: page.length < all.length };
  }

  #iterator(iterator: Iterator): string {
    const name = `iterator-${this.#iterators.size}`;
    this.#iterators.set(name, iterator);
    return name;
  }

  #checkTrimmed({ shard, after, inclusive }: Pick<Iterator, 'shard' | 'after' | 'inclusive'>): void {
    if (!this.saysTrimmed || after === undefined || shard.trimmedTo === undefined) return;
    const lost = inclusive ? shard.trimmedTo >= after : shard.trimmedTo > after;
    // It is not documented what happens if the record to continue after is the last one trimmed.
    const unclear = !inclusive && shard.trimmedTo === after && this.#world.chance.happens(0.3);
    if (lost || unclear) throw new StreamFailure('trimmed');
  }

  openShard(stream: string, id: string, start: ShardStart): string {
    const shard = this.#shardsOf(stream).find((candidate) => candidate.id === id);
    if (shard === undefined) throw new StreamFailure('gone');
    if (start.type === 'newest') throw new Error('no reader of the simulation begins at the newest record');
    const iterator = {
      shard,
      after: start.type === 'oldest' ? undefined : BigInt(start.sequence),
      inclusive: start.type === 'at',
      madeAt: this.#world.now,
      empty: 0,
    };
    this.#checkTrimmed(iterator);
    return this.#iterator(iterator);
  }

  readRecords(name: string): RecordBatch {
    const { chance, now } = this.#world;
    const iterator = this.#iterators.get(name)!;
    const { shard, after, inclusive, madeAt, empty } = iterator;
    if (now - madeAt > ITERATOR_LIVES_MS || (this.faulty && chance.happens(0.01))) throw new StreamFailure('expired');
    if (!this.#shards.includes(shard)) throw new StreamFailure('gone');
    this.#checkTrimmed(iterator);
    const rest = shard.records.filter(
      ({ number, visibleAt }) =>
        visibleAt <= now && (after === undefined || number > after || (inclusive && number === after)),
    );
    // Iterators move through a shard in steps, some of them without a record.
    const page = this.faulty && empty < MOST_EMPTY && chance.happens(0.2) ? [] : rest.slice(0, chance.integer(1, 6));
    const last = page.at(-1);
    const visible = shard.records.every(({ visibleAt }) => visibleAt <= now);
    const ended = shard.closedAt !== undefined && visible && page.length === rest.length;
    const next =
      last === undefined
        ? { ...iterator, madeAt: now, empty: empty + 1 }
        : { shard, after: last.number, inclusive: false, madeAt: now, empty: 0 };
    return { records: page.map(({ record }) => record), next: ended ? undefined : this.#iterator(next) };
  }
}
