import { CellportError, badInput, notFound } from '../../errors.js';
import { isCollectionKey } from '../../keys/validate.js';
import { type Collection, type LayoutPhase, otherLayout } from '../../model/collection.js';
import type { Key } from '../../keys/document-id.js';
import type { Database, Item } from '../database.js';
import { changeItem, readItem } from '../request/conditional-change.js';
import type { Call } from '../request/meter.js';
import { type CollectionInput, collectionFromItem, readPartitioning } from './collection-item.js';
import { LayoutChanged } from './watch-collection.js';

/** How a collection's markers are to be partitioned; what is omitted stays as it is. */
export type WantedLayout = Pick<CollectionInput, 'prefixLength' | 'writeShards'>;

type Layouts = Pick<Collection, 'prefixLength' | 'writeShards' | 'geoSlot' | 'layoutChange'>;

/** The same layouts in another phase. */
function inPhase(
  { geoSlot, prefixLength, writeShards, layoutChange, version }: Collection,
  phase: LayoutPhase,
): Layouts {
  if (layoutChange === undefined) throw new Error('no change of the layout is in progress');
  const change = { ...layoutChange, phase, step: version + 1 };
  return { geoSlot, prefixLength, writeShards, layoutChange: change };
}

/** Readers use the other index, in which the markers have been entered as well. */
function switched(collection: Collection): Layouts {
  const other = otherLayout(collection);
  if (other === undefined) throw new Error('no change of the layout is in progress');
  const { prefixLength, writeShards, version } = collection;
  return { ...other, layoutChange: { phase: 'SWITCH', prefixLength, writeShards, step: version + 1 } };
}

/** What follows a completed phase. */
export function nextLayouts(collection: Collection): Layouts {
  const { geoSlot, prefixLength, writeShards, layoutChange } = collection;
  if (layoutChange?.phase === 'FILL') return switched(collection);
  if (layoutChange?.phase === 'SWITCH') return inPhase(collection, 'DRAIN');
  return { geoSlot, prefixLength, writeShards };
}

/**
 * What leads back to the layout before the change, from any phase: an index that is being filled is drained, and one
 * that is being drained is filled; while both are complete, readers switch back at once. Undoing that again redoes the
 * change.
 */
export function undoneLayouts(collection: Collection): Layouts {
  const { phase } = collection.layoutChange ?? {};
  if (phase === 'SWITCH') return switched(collection);
  return inPhase(collection, phase === 'FILL' ? 'DRAIN' : 'FILL');
}

/** Changes the layouts of a collection with one conditional write; `decide` receives it as it is. */
async function changeLayouts(
  database: Database,
  key: string,
  decide: (collection: Collection) => Layouts,
  call: Call,
): Promise<Collection> {
  const valid = (item: Item | undefined) => {
    const collection = item && collectionFromItem(database, item);
    if (item === undefined || collection === undefined) throw notFound('collection', key);
    return { item, collection };
  };
  const { after } = await changeItem(
    database,
    async () => (isCollectionKey(key) ? readItem(database, database.keys.collection(key), call) : undefined),
    (current) => {
      const { item, collection } = valid(current);
      const next = { ...item, layoutChange: undefined, ...decide(collection), version: collection.version + 1 };
      return { found: item, next };
    },
    call,
  );
  return valid(after).collection;
}

const nameOf = ({ prefixLength, writeShards }: Pick<Collection, 'prefixLength' | 'writeShards'>) =>
  `prefix length ${prefixLength} with write shards ${writeShards}`;

/** The layout that a collection will have when the change in progress is complete. */
export function targetLayout(collection: Collection): Pick<Collection, 'prefixLength' | 'writeShards'> {
  const { layoutChange } = collection;
  return layoutChange?.phase === 'FILL' ? layoutChange : collection;
}

/**
 * Begins to change the layout of a collection, which `repartition` then does; nothing changes if that change is already
 * in progress. Throws NOT_FOUND, BAD_USER_INPUT if the layout is invalid or as wanted, or CONFLICT if another change is
 * in progress.
 */
export function beginLayoutChange(
  database: Database,
  key: string,
  wanted: WantedLayout,
  call: Call,
): Promise<Collection> {
  const decide = (collection: Collection): Layouts => {
    const { geoSlot, layoutChange, version } = collection;
    const now = targetLayout(collection);
    const target = readPartitioning(wanted, now);
    const isSame = target.prefixLength === now.prefixLength && target.writeShards === now.writeShards;
    const own = { geoSlot, prefixLength: collection.prefixLength, writeShards: collection.writeShards };
    if (layoutChange !== undefined) {
      if (isSame) return { ...own, layoutChange };
      const message = `collection ${key} is being changed to ${nameOf(now)}; complete that or undo it first`;
      throw new CellportError('CONFLICT', message, { collection: key });
    }
    if (isSame) throw badInput('prefixLength', target.prefixLength, `a layout other than the current ${nameOf(now)}`);
    return { ...own, layoutChange: { ...target, phase: 'FILL', step: version + 1 } };
  };
  return changeLayouts(database, key, decide, call);
}

/** Undoes the change of a layout in progress; `repartition` must then complete it. Throws NOT_FOUND or CONFLICT. */
export function undoLayoutChange(database: Database, key: string, call: Call): Promise<Collection> {
  const decide = (collection: Collection): Layouts => {
    if (collection.layoutChange !== undefined) return undoneLayouts(collection);
    const message = `the layout of collection ${key} is not being changed; use --prefix-length and --shards to return to another one`;
    throw new CellportError('CONFLICT', message, { collection: key });
  };
  return changeLayouts(database, key, decide, call);
}

/**
 * Begins what follows the phase in which a collection was read. Throws NOT_FOUND, or LayoutChanged if it is no longer
 * in it.
 */
export function endPhase(database: Database, read: Collection, call: Call): Promise<Collection> {
  const decide = (collection: Collection): Layouts => {
    if (collection.createdAt !== read.createdAt) throw notFound('collection', read.key);
    if (collection.layoutChange?.step === read.layoutChange?.step) return nextLayouts(collection);
    throw new LayoutChanged(collection);
  };
  return changeLayouts(database, read.key, decide, call);
}

/** The key of the job that changes the layout of a collection. */
export function repartitionJob({ keys }: Database, collection: Collection): Key {
  return keys.job(keys.scope(collection), 'repartition');
}
