import { limitExceeded } from '../errors.js';
import { blockName } from '../loaders/cell-cache.js';
import { markersIn } from '../map/collection.js';
import { measuredBytes, sumsOfBlock, type CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { Grant, GrantedWrite } from '../model/grant.js';
import { QUOTA_ADVICE } from '../model/quotas.js';
import { getBlocks } from '../store/cell/blocks.js';
import { itemBytes } from '../store/request/item-size.js';
import type { RequestContext } from './context.js';

/** What a quota limits of a collection. */
interface Measure {
  readonly quota: 'markersPerCollection' | 'bytesPerCollection';
  readonly name: string;
  /** How much there is according to the block of the whole collection; undefined if that is not known. */
  readonly stored: (block: CellBlock) => number | undefined;
  /** How much more there is after a write. */
  readonly addedBy: (write: GrantedWrite) => number;
}

const bytesOf = (item: GrantedWrite['after']) => (item ? itemBytes(item) : 0);
const MEASURES: readonly Measure[] = [
  {
    quota: 'markersPerCollection',
    name: 'number of markers',
    stored: markersIn,
    addedBy: ({ before, after }) => Number(after !== undefined) - Number(before !== undefined),
  },
  {
    quota: 'bytesPerCollection',
    name: 'size in bytes',
    stored: (block) => measuredBytes(sumsOfBlock(block)),
    addedBy: ({ before, after }) => bytesOf(after) - bytesOf(before),
  },
];

const addedBy = (measure: Measure, writes: readonly GrantedWrite[]) =>
  writes.reduce((sum, write) => sum + measure.addedBy(write), 0);

/** The block of the whole collection: read at most every two seconds, and never while changes are followed. */
async function storedBlock({ services, work, map }: RequestContext, collection: Collection) {
  const { db, cellCache, trust } = services;
  const scope = db.keys.scope(collection);
  // Before the block, which may have more.
  const asOf = await trust.asOf().catch(() => null);
  const name = blockName(scope, '');
  const token = cellCache.begin();
  const cached = cellCache.get(name);
  const [read] = cached ? [] : await getBlocks(work, scope, ['']);
  const block = cached ?? cellCache.put(name, read ?? { parent: '', batch: 0, children: new Map() }, token);
  const recent = await map.loaders.recent.cells(collection);
  return { block: recent.over(block), asOf: asOf ?? 0 };
}

const countName = ({ services }: RequestContext, collection: Collection, { quota }: Measure) =>
  `${services.db.keys.scope(collection)} ${quota}`;

/** Notes what writes add to what quotas limit, or take from it, without what was admitted of it before. */
export function countWrites(
  context: RequestContext,
  collection: Collection,
  writes: readonly GrantedWrite[],
  admitted?: ReadonlyMap<Measure, number>,
): void {
  // Nobody has a quota then.
  if (context.access === undefined) return;
  for (const measure of MEASURES) {
    const by = addedBy(measure, writes) - (admitted?.get(measure) ?? 0);
    if (by !== 0) context.services.markerCounts.changed(countName(context, collection, measure), by);
  }
}

type Written = GrantedWrite | { readonly written: readonly GrantedWrite[] };

/** Writes markers of a collection within the quotas of the principal, see `Grant.admit`. Throws LIMIT_EXCEEDED. */
export async function writtenWithin<T extends Written>(
  context: RequestContext,
  collection: Collection,
  write: (collection: Collection) => Promise<T>,
): Promise<T> {
  const { access, services } = context;
  const { key, grant } = collection;
  const quotas = access?.quotas ?? {};
  const limited = MEASURES.filter(({ quota }) => quotas[quota] !== undefined);
  const admitted = new Map<Measure, number>();
  let made: readonly GrantedWrite[] = [];
  const admit: Grant['admit'] = async (writes) => {
    const planned = limited.length === 0 ? [] : writes();
    let found: Awaited<ReturnType<typeof storedBlock>> | undefined;
    for (const measure of limited) {
      const { quota, name, stored } = measure;
      const before = admitted.get(measure) ?? 0;
      const wanted = addedBy(measure, planned);
      if (wanted <= before) continue;
      found ??= await storedBlock(context, collection);
      const { block, asOf } = found;
      const known = stored(block);
      const most = quotas[quota] ?? 0;
      const field = `${name} of collection ${key}`;
      if (known === undefined) throw limitExceeded(field, 'unknown', most, 'let its operator run `cellport recount`');
      const counter = countName(context, collection, measure);
      const count = await services.markerCounts.admit(counter, known, asOf, wanted - before, most);
      if (count > most) {
        // Who sees only some of the markers is not told how many there are.
        const reading = access?.grant('read', key);
        const value = reading && reading.rows === undefined ? count : `more than ${most}`;
        throw limitExceeded(field, value, most, QUOTA_ADVICE);
      }
      admitted.set(measure, wanted);
    }
  };
  try {
    const result = await write(grant ? { ...collection, grant: { ...grant, admit } } : collection);
    const written: Written = result;
    made = 'written' in written ? written.written : [written];
    return result;
  } finally {
    countWrites(context, collection, made, admitted);
  }
}
