import type { CellSums } from '../../../src/geo/cell-sums.js';
import type { RecentPart } from '../../../src/pages/recent-writes.js';
import type { BlockName, BlockOutcome, BlockWrite, StoredBlock } from '../../../src/store/cell/blocks.js';
import type { DeadLetter } from '../../../src/store/cell/dead-letters.js';
import type { StreamState } from '../../../src/store/cell/stream-state.js';
import type { Publication } from '../../../src/stream/ports.js';
import { DaysModel } from './days-model.js';
import { PagesModel } from './pages-model.js';

const nameOf = ({ scope, parent }: BlockName) => `${scope}/${parent}`;
const EMPTY: StoredBlock = { batch: undefined, children: new Map<string, CellSums>() };

/** The table of blocks and of the consumers' state, as DynamoDB stores it. */
export class DerivedModel {
  state: StreamState | undefined;
  readonly deadLetters = new Map<string, DeadLetter>();
  /** Every version of each block, latest last. */
  readonly blocks = new Map<string, StoredBlock[]>();
  readonly pages = new PagesModel();
  readonly days = new DaysModel();
  /** What was published, by whom, and by how many milliseconds its clock is ahead. */
  readonly recent: (Publication &
    Pick<RecentPart, 'sums'> & { readonly scope: string; readonly by: string; readonly aheadMs: number })[] = [];
  writes = 0;

  putState(next: StreamState, conditional = true): boolean {
    if (conditional && (this.state?.version ?? 0) !== next.version - 1) return false;
    this.state = structuredClone(next);
    return true;
  }

  putSetAside(records: readonly DeadLetter[]): void {
    for (const record of records) this.deadLetters.set(`${record.sequence}.${record.shard}`, record);
  }

  /** The current version of a block, or one from some versions ago. */
  read(name: BlockName, versionsAgo = 0): StoredBlock {
    return this.blocks.get(nameOf(name))?.at(-1 - versionsAgo) ?? EMPTY;
  }

  write(write: BlockWrite, conditional = true): BlockOutcome {
    const before = this.read(write);
    if (conditional && before.batch !== write.found.batch) return 'refused';
    const versions = this.blocks.get(nameOf(write)) ?? [];
    this.blocks.set(nameOf(write), versions);
    versions.push(write.next);
    this.writes += 1;
    return 'written';
  }

  /** Every cell with sums that are not zero: `scope/cell` -> sums. */
  cells(): Map<string, string> {
    const cells = new Map<string, string>();
    for (const [name, versions] of this.blocks) {
      for (const [child, { count, sumLng, sumLat }] of versions.at(-1)?.children ?? []) {
        if (count !== 0 || sumLng !== 0 || sumLat !== 0) cells.set(name + child, `${count} ${sumLng} ${sumLat}`);
      }
    }
    return cells;
  }
}
