import { placeOfParent } from '../../../src/model/cell.js';
import { afterPartition, partsOfHints } from '../../../src/pages/directory.js';
import type { BlockName, BlockOutcome } from '../../../src/store/cell/blocks.js';
import { batchesOf, type WrittenBatch, type WrittenPages } from '../../../src/store/page/written-pages.js';
import type { CellMemory } from '../../../src/stream/cells/memory.js';
import type { DaysPort, PagesPort, RecentPort, StatePort } from '../../../src/stream/ports.js';
import type { DerivedModel } from './derived-model.js';
import type { Ports } from './process.js';
import type { Plant } from './simulate.js';
import type { World } from './world.js';

const isPlace = ({ parent }: BlockName) => placeOfParent(parent) !== undefined;

type MemoryCalls = Pick<CellMemory, 'take' | 'put'>;

/** A bug in the memory of blocks. */
function spoiled(memory: CellMemory, change: (own: MemoryCalls) => MemoryCalls): CellMemory {
  return Object.assign(memory, change({ take: memory.take.bind(memory), put: memory.put.bind(memory) }));
}

/** A bug in the maintenance of pages. */
const withPages =
  (change: (pages: PagesPort, world: World, derived: DerivedModel) => PagesPort): Plant =>
  (ports, world, derived) => ({
    ...ports,
    pages: { ...ports.pages, open: (generation) => change(ports.pages.open(generation), world, derived) },
  });

/** A bug in what is published. */
const withRecent =
  (change: (recent: RecentPort, state: StatePort) => { recent?: RecentPort; state?: StatePort }): Plant =>
  (ports) => {
    const { recent = ports.pages.recent, state = ports.state } = ports.pages.recent
      ? change(ports.pages.recent, ports.state)
      : {};
    return { ...ports, state, pages: { ...ports.pages, recent } };
  };

/** A bug in the list of pages that were written. */
const withWritten =
  (change: (written: WrittenPages) => WrittenPages): Plant =>
  (ports) => ({
    ...ports,
    state: {
      ...ports.state,
      put: ({ written, ...next }) => ports.state.put({ ...next, ...(written && { written: change(written) }) }),
    },
  });

/** A bug in the summaries of readings. */
const withDays = (ports: Ports, changed: Partial<DaysPort>): Ports => ({
  ...ports,
  days: { ...ports.days, port: { ...ports.days.port, ...changed } },
});

/** Bugs that a scheme like this one invites. The simulation must find each of them, otherwise it proves nothing. */
export const PLANTED_BUGS: Readonly<Record<string, Plant>> = {
  /** The next plan declares a batch complete before its blocks are written, like a checkpoint outside the writes. */
  'the next plan is stored before the former batch is applied': (ports, world) => ({
    ...ports,
    cells: {
      ...ports.cells,
      write: (writes) => {
        world.schedule(world.chance.next() * 2_000, () => void ports.cells.write(writes).catch(() => undefined));
        return Promise.resolve(writes.map((): BlockOutcome => 'written'));
      },
    },
  }),

  /** Nothing is stored until the batch is applied, so that a crash leaves blocks with a batch that no state names. */
  'the plan is stored only after its batch was applied': (ports) => {
    let held: Parameters<typeof ports.state.put>[0] | undefined;
    return {
      ...ports,
      state: {
        ...ports.state,
        put: async (next) => {
          const before = held;
          held = undefined;
          if (before !== undefined && !(await ports.state.put(before))) return false;
          if (next.plan === null) return ports.state.put(next);
          held = next;
          return true;
        },
      },
    };
  },

  /** A batch is added whatever the block contains: redelivery and former owners count twice. */
  'the condition of the blocks is left out': (ports, world, derived) => ({
    ...ports,
    cells: {
      read: async (names, consistent) =>
        (await ports.cells.read(names, consistent)).map(({ children }) => ({ batch: undefined, children })),
      write: async (writes) => {
        await world.wait(world.chance.next() * 5);
        return writes.map((write) => derived.write(write, false));
      },
    },
  }),

  /** The same, but only for the counts of places. */
  'the condition of the counts of places is left out': (ports, _world, derived) => ({
    ...ports,
    memory: spoiled(ports.memory, ({ take, put }) => ({
      take: (name) => (isPlace(name) ? undefined : take(name)),
      put,
    })),
    cells: {
      read: async (names, consistent) =>
        (await ports.cells.read(names, consistent)).map(({ batch, children }, index) => ({
          batch: names.slice(index, index + 1).some(isPlace) ? undefined : batch,
          children,
        })),
      write: async (writes) => {
        const outcomes = [...(await ports.cells.write(writes.filter((write) => !isPlace(write))))];
        return writes.map((write) => (isPlace(write) ? derived.write(write, false) : (outcomes.shift() ?? 'failed')));
      },
    },
  }),

  /** Blocks are replaced although they have changed since they were read. */
  'blocks are written whatever was written since they were read': (ports, world, derived) => ({
    ...ports,
    cells: {
      ...ports.cells,
      write: async (writes) => {
        await world.wait(world.chance.next() * 40);
        return writes.map((write) => derived.write(write, false));
      },
    },
  }),

  /** The state is written whatever version it has: two owners, each with its own plans. */
  'the state is written without a condition': (ports, world, derived) => ({
    ...ports,
    state: {
      ...ports.state,
      put: async (next) => {
        await world.wait(world.chance.next() * 40);
        return derived.putState(next, false);
      },
    },
  }),

  /** Blocks of two collections are mistaken for each other: both have the number of the batch that wrote them. */
  'the memory of blocks confuses collections': (ports) => ({
    ...ports,
    memory: spoiled(ports.memory, ({ take, put }) => ({
      take: (name) => take({ ...name, scope: '' }),
      put: (name, block) => put({ ...name, scope: '' }, block),
    })),
  }),

  /** A block of which only the latest changes are known is taken as complete. */
  'the memory of blocks knows only what was written last': (ports) => {
    const written = new Map<string, readonly string[]>();
    const nameOf = ({ scope, parent }: BlockName) => `${scope}/${parent}`;
    return {
      ...ports,
      cells: {
        ...ports.cells,
        write: (writes) => {
          for (const write of writes) {
            const { found, next } = write;
            const changed = [...next.children].filter(([child, sums]) => sums !== found.children.get(child));
            written.set(
              nameOf(write),
              changed.map(([child]) => child),
            );
          }
          return ports.cells.write(writes);
        },
      },
      memory: spoiled(ports.memory, ({ take, put }) => ({
        take,
        put(name, { batch, children }) {
          const latest = [...children].filter(([child]) => written.get(nameOf(name))?.includes(child));
          put(name, { batch, children: new Map(latest) });
        },
      })),
    };
  },

  /** The stream is identified only once: another one, enabled later, is never read. */
  'the stream is identified only at the start': (ports) => {
    let first: string | undefined;
    return { ...ports, stream: { ...ports.stream, identify: async () => (first ??= await ports.stream.identify()) } };
  },

  /** An expired iterator continues with later records only. */
  'an expired iterator skips what it had not read': (ports) => ({
    ...ports,
    stream: {
      ...ports.stream,
      openShard: async (stream, shard, start) => {
        const iterator = await ports.stream.openShard(stream, shard, start);
        if (start.type === 'after') await ports.stream.readRecords(iterator).then(({ next }) => next ?? iterator);
        const page = start.type === 'after' ? await ports.stream.readRecords(iterator) : undefined;
        return page?.next ?? iterator;
      },
    },
  }),

  /** A process that stops in between has lost the right part. */
  'the left part of a page that splits is stored before the right one': withPages((pages) => ({
    ...pages,
    write: async (replacements) => {
      const outcomes: boolean[] = [];
      for (const { pages: made, ...replacement } of replacements) {
        const [left, ...right] = made;
        const [isLeft = false] = await pages.write([{ ...replacement, pages: left ? [left] : [] }]);
        const others = right.map((page) => ({ ...replacement, begin: page.begin, seen: undefined, pages: [page] }));
        if (isLeft && others.length > 0) await pages.write(others);
        outcomes.push(isLeft);
      }
      return outcomes;
    },
  })),

  /** Writes of a batch's first round come after those of the second one. */
  'a marker leaves its page before the other one has it': withPages((pages, world, derived) => ({
    ...pages,
    write: (replacements) => {
      if (replacements.some(({ round }) => round % 2 === 1)) return pages.write(replacements);
      const late = () => replacements.forEach((replacement) => derived.pages.write(replacement));
      world.schedule(world.chance.next() * 1_000, late);
      return Promise.resolve(replacements.map(() => true));
    },
  })),

  /** Readers request pages that do not exist. */
  'the directory names pages before they are stored': withPages((pages) => ({
    ...pages,
    write: async (replacements) => {
      for (const { scope, pages: made } of replacements) {
        const hints = made.map(({ begin, markers, data }) => ({ begin, markers, bytes: data.length }));
        const [part] = partsOfHints(hints, afterPartition(hints[0]?.begin ?? ''), hints.length);
        if (part && made.length > 1) await pages.putDirectoryPart(scope, part);
      }
      return pages.write(replacements);
    },
  })),

  /** Pages are replaced although they have changed since they were read. */
  'pages are written whatever was written since they were read': withPages((pages, world, derived) => ({
    ...pages,
    write: async (replacements) => {
      await world.wait(world.chance.next() * 20_000);
      return replacements.map((replacement) => derived.pages.write(replacement, false));
    },
  })),

  /** Blocks that include a batch get what was published of it once more. */
  'what is published of several batches counts as that of the last one': withRecent((recent) => ({
    recent: {
      put: (scope, as, part) => {
        const sums = part.sums.map((one) => ({ ...one, batch: part.batch }));
        return recent.put(scope, as, { ...part, sums });
      },
    },
  })),

  /** A part of the one before may have been stored. */
  'what is published once more counts twice': withRecent((recent) => ({
    recent: { put: (scope, { version }, part) => recent.put(scope, { version, attempt: 0 }, part) },
  })),

  /** That of its successor has other records under the same number. */
  'a batch that its owner never planned counts as it was published': withRecent((_, state) => ({
    state: {
      ...state,
      put: (next) => {
        const { published } = next;
        if (!published) return state.put(next);
        return state.put({ ...next, published: { ...published, from: 0, began: { version: 0, batch: 0 } } });
      },
    },
  })),

  /** A page that a server has read remains as it was. */
  'the state does not list all pages that were written': withWritten(({ batches, ...written }) => {
    const all = batchesOf({ ...written, batches }).map(([batch, first]): WrittenBatch => [batch, first, {}]);
    return { ...written, batches: JSON.stringify(all) };
  }),

  /** An owner does not write again what the one before it has written of a batch. */
  'the state lists the pages of a batch that another owner began': withWritten((written) => ({ ...written, since: 0 })),

  /** A reading recorded while its day was summarized is lost. */
  'a day is closed whatever was recorded since it was read': (ports, world, derived) =>
    withDays(ports, {
      close: async (day, seen, kept) => {
        await world.wait(world.chance.next() * 2_000);
        return derived.days.close(day, seen, kept, false);
      },
    }),

  /** A day that was opened again stays open. */
  'a day is no longer due whatever was recorded since it was listed': (ports, world, derived) =>
    withDays(ports, {
      forget: async (due) => {
        await world.wait(world.chance.next() * 2_000);
        derived.days.forget(due, false);
      },
    }),

  /** A process that stops in between leaves the day open, and not due. */
  'days are opened after their batch is complete': (ports, world) =>
    withDays(ports, {
      open: (days, epoch) => {
        world.schedule(
          world.chance.next() * 2_000,
          () => void ports.days.port.open(days, epoch).catch(() => undefined),
        );
        return Promise.resolve();
      },
    }),
};
