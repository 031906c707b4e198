import { placeOfParent } from '../../../src/model/cell.js';
import type { BlockName, BlockOutcome } from '../../../src/store/cell/blocks.js';
import type { Plant } from './simulate.js';

const isPlace = ({ parent }: BlockName) => placeOfParent(parent) !== undefined;

/** Bugs that a scheme like this one invites. The simulation has to find each of them, or it proves nothing. */
export const PLANTED_BUGS: Readonly<Record<string, Plant>> = {
  /** The next plan declares a batch complete before its blocks are written: what a checkpoint outside the writes does. */
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
    memory: { ...ports.memory, take: (name) => (isPlace(name) ? undefined : ports.memory.take(name)) },
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
    memory: {
      ...ports.memory,
      take: (name) => ports.memory.take({ ...name, scope: '' }),
      remember: (name, block) => ports.memory.remember({ ...name, scope: '' }, block),
    },
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
          for (const write of writes) written.set(nameOf(write), [...write.children.keys()]);
          return ports.cells.write(writes);
        },
      },
      memory: {
        ...ports.memory,
        remember: (name, { batch, children }) => {
          const latest = [...children].filter(([child]) => written.get(nameOf(name))?.includes(child));
          ports.memory.remember(name, { batch, children: new Map(latest) });
        },
      },
    };
  },

  /** The stream is identified once: another one, switched on later, is never read. */
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
};
