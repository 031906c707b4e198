import type { Clock } from '../../../src/clock.js';
import { CellMemory } from '../../../src/stream/cells/memory.js';
import type { DaysOptions } from '../../../src/stream/days/apply.js';
import type { PagesOptions } from '../../../src/stream/pages/kept-pages.js';
import { PageMemory } from '../../../src/stream/pages/memory.js';
import { StreamFailure, type CellsPort, type StatePort, type StreamPort } from '../../../src/stream/ports.js';
import type { DerivedModel } from './derived-model.js';
import { TEXT } from './pages-model.js';
import type { TableModel } from './table-model.js';
import type { World } from './world.js';

/** How often calls fail, and how. */
export interface Faults {
  /** Before it has any effect. */
  refused: number;
  /** After it took effect: the response is lost. */
  answerLost: number;
  slowestMs: number;
  /** By how much a clock is wrong, at most. */
  skewMs: number;
}

/** The ports of a consumer, unchanged or with a planted bug. */
export interface Ports {
  readonly stream: StreamPort;
  readonly state: StatePort;
  readonly cells: CellsPort;
  readonly memory: CellMemory;
  readonly pages: PagesOptions;
  readonly days: DaysOptions;
}

/**
 * One run of the server: responses reach it only while it is alive and awake. Requests made before its death may still
 * be executed.
 */
export class Process {
  readonly name: string;
  alive = true;
  readonly stop = new AbortController();
  readonly #world: World;
  readonly #faults: Faults;
  readonly #skewMs: number;
  #asleep: (() => void)[] | undefined;

  constructor(world: World, faults: Faults, name: string) {
    this.#world = world;
    this.#faults = faults;
    this.name = name;
    this.#skewMs = world.chance.integer(-faults.skewMs, faults.skewMs);
  }

  /** Dies between two steps; no more responses reach it. */
  kill(): void {
    this.alive = false;
    this.#asleep = undefined;
  }

  /** Pauses for a while, like a long garbage collection or a laptop that sleeps. */
  pauseFor(ms: number): void {
    if (!this.alive || this.#asleep !== undefined) return;
    this.#asleep = [];
    this.#world.schedule(ms, () => {
      const waiting = this.#asleep ?? [];
      this.#asleep = undefined;
      for (const go of waiting) go();
    });
  }

  /** Resolves when the process continues; never if it is dead. */
  #awake(): Promise<void> | undefined {
    if (!this.alive) return new Promise<never>(() => undefined);
    const asleep = this.#asleep;
    return asleep === undefined ? undefined : new Promise((resolve) => asleep.push(resolve));
  }

  async #gate(): Promise<void> {
    for (let sleeping = this.#awake(); sleeping !== undefined; sleeping = this.#awake()) await sleeping;
  }

  async #call<T>(effect: () => T): Promise<T> {
    const { chance } = this.#world;
    const { refused, answerLost, slowestMs } = this.#faults;
    await this.#world.wait(chance.next() * slowestMs);
    let outcome: { readonly value: T } | { readonly error: unknown };
    const dropped = !this.alive && chance.happens(0.5);
    if (dropped || chance.happens(refused)) outcome = { error: new Error('not done') };
    else {
      try {
        outcome = { value: effect() };
      } catch (error) {
        outcome = { error };
      }
      if (chance.happens(answerLost) && !('error' in outcome))
        outcome = { error: new Error('done, but the answer is lost') };
    }
    await this.#world.wait(chance.next() * slowestMs);
    await this.#gate();
    if ('value' in outcome) return outcome.value;
    // Each caller gets a new stream error with its own stack.
    throw outcome.error instanceof StreamFailure ? new StreamFailure(outcome.error.kind) : outcome.error;
  }

  clock(): Clock {
    const world = this.#world;
    return {
      now: () => world.now,
      wall: () => world.now + this.#skewMs,
      sleep: async (ms, signal) => {
        if (!signal?.aborted) {
          await new Promise<void>((resolve) => {
            const done = () => {
              signal?.removeEventListener('abort', done);
              resolve();
            };
            signal?.addEventListener('abort', done);
            world.schedule(ms, done);
          });
        }
        await this.#gate();
      },
      random: () => world.chance.next(),
    };
  }

  ports(table: TableModel, derived: DerivedModel): Ports {
    const { chance } = this.#world;
    return {
      // None, one for some of the blocks, and one for all.
      memory: new CellMemory(chance.pick([0, 3_000, 1_000_000])),
      pages: {
        memory: new PageMemory(chance.pick([0, 5_000, 1_000_000])),
        // A page of one to three markers.
        pack: { encode: TEXT.encode, mostBytes: 600 },
        decode: TEXT.decode,
        mostHints: 4,
        recent: {
          // In parts, of which only some may be there.
          put: async (scope, as, { sums }) => {
            for (const one of sums) {
              await this.#call(() => {
                derived.recent.push({ scope, ...as, sums: [one], by: this.name, aheadMs: this.#skewMs });
              });
            }
            return sums.length;
          },
        },
        open: () => ({
          find: (scope, position) => this.#call(() => derived.pages.find(scope, position)),
          from: (scope, begin, limit) => this.#call(() => derived.pages.from(scope, begin, limit)),
          findDirectoryPart: (scope, position) => this.#call(() => derived.pages.findDirectoryPart(scope, position)),
          putDirectoryPart: (scope, part) => this.#call(() => derived.pages.putDirectoryPart(scope, part)),
          write: (replacements) =>
            this.#call(() => {
              const written = replacements.map(
                (each) => !chance.happens(this.#faults.refused) && derived.pages.write(each),
              );
              if (chance.happens(this.#faults.answerLost)) throw new Error('done in part');
              return written;
            }),
        }),
      },
      days: { port: derived.days.port(table, (effect) => this.#call(effect)), everyMs: chance.pick([1_000, 5_000]) },
      stream: {
        identify: () => this.#call(() => table.identify()),
        listShards: (stream, after) => this.#call(() => table.listShards(stream, after)),
        openShard: (stream, shard, start) => this.#call(() => table.openShard(stream, shard, start)),
        readRecords: (iterator) => this.#call(() => table.readRecords(iterator)),
      },
      state: {
        load: () => this.#call(() => structuredClone(derived.state)),
        put: (next) => this.#call(() => derived.putState(next)),
        putDeadLetters: (records) => this.#call(() => derived.putSetAside(records)),
      },
      cells: {
        read: (names, consistent) =>
          this.#call(() => names.map((name) => derived.read(name, consistent ? 0 : chance.integer(0, 2)))),
        write: (writes) =>
          this.#call(() =>
            writes.map((write) => {
              if (chance.happens(this.#faults.refused)) return 'failed';
              const outcome = derived.write(write);
              return outcome === 'written' && chance.happens(this.#faults.answerLost) ? 'failed' : outcome;
            }),
          ),
      },
    };
  }
}
