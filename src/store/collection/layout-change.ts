import { badInput, CellportError, notFound } from '../../errors.js';
import type { Key } from '../../keys/document-id.js';
import { hasSameNames, otherLayout, type Collection, type Layout, type LayoutPhase } from '../../model/collection.js';
import type { Call, Database } from '../database.js';
import { changeCollection, requireGeoIndex } from './change-collection.js';
import { readLayout, type WantedLayout } from './collection-item.js';
import { LayoutChanged } from './watch-collection.js';

type Layouts = Pick<Collection, keyof Layout | 'geoSlot' | 'layoutChange' | 'spread'>;

const layoutOf = ({ prefixLength, writeShards, mapProperties }: Layout): Layout => ({
  prefixLength,
  writeShards,
  mapProperties,
});

/** The same layouts in another phase. */
function inPhase({ geoSlot, layoutChange, version, ...own }: Collection, phase: LayoutPhase): Layouts {
  if (layoutChange === undefined) throw new Error('no change of the layout is in progress');
  return { geoSlot, ...layoutOf(own), layoutChange: { ...layoutChange, phase, step: version + 1 } };
}

/** Readers use the other index, in which the markers have been entered as well, and the other map properties. */
function switched(collection: Collection): Layouts {
  const { geoSlot, layoutChange, version } = collection;
  if (layoutChange === undefined) throw new Error('no change of the layout is in progress');
  return {
    geoSlot: otherLayout(collection)?.geoSlot ?? geoSlot,
    ...layoutOf(layoutChange),
    layoutChange: { ...layoutOf(collection), phase: 'SWITCH', step: version + 1 },
  };
}

/** What follows a completed phase. */
export function nextLayouts(collection: Collection): Layouts {
  const { geoSlot, layoutChange } = collection;
  if (layoutChange?.phase === 'FILL') return switched(collection);
  if (layoutChange?.phase === 'SWITCH') return inPhase(collection, 'DRAIN');
  // The other index is empty now: prefixes that were spread in it no longer are.
  const spread = collection.spread?.filter((each) => each.geoSlot === geoSlot);
  return { geoSlot, ...layoutOf(collection), ...(spread && { spread }) };
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

async function changeLayouts(
  call: Call,
  key: string,
  decide: (collection: Collection) => Layouts,
): Promise<Collection> {
  const layouts = (collection: Collection) => ({ layoutChange: undefined, ...decide(collection) });
  return (await changeCollection(call, key, layouts)).collection;
}

/** A layout in words. */
export function nameOfLayout({ prefixLength, writeShards, mapProperties }: Layout): string {
  const names = mapProperties.length === 0 ? 'none' : mapProperties.join(', ');
  return `prefix length ${prefixLength} with write shards ${writeShards} and map properties ${names}`;
}

/** Whether two layouts differ in nothing; map properties may be in another order. */
function isSameLayout(a: Layout, b: Layout): boolean {
  const isSamePartitioning = a.prefixLength === b.prefixLength && a.writeShards === b.writeShards;
  return isSamePartitioning && hasSameNames(a.mapProperties, b.mapProperties);
}

/** The layout that a collection will have when the change in progress is complete. */
function targetLayout(collection: Collection): Layout {
  const { layoutChange } = collection;
  return layoutOf(layoutChange?.phase === 'FILL' ? layoutChange : collection);
}

/**
 * Begins to change the layout of a collection, which `repartition` then does; nothing changes if that change is already
 * in progress. Throws NOT_FOUND, BAD_USER_INPUT if the layout is invalid or as wanted, or there is no geo index, or
 * CONFLICT if another change is in progress.
 */
export function beginLayoutChange(call: Call, key: string, wanted: WantedLayout): Promise<Collection> {
  const decide = (collection: Collection): Layouts => {
    const { geoSlot, layoutChange, version } = collection;
    requireGeoIndex(collection, 'so there are no entries to repartition');
    const now = targetLayout(collection);
    const target = readLayout(wanted, now);
    const isSame = isSameLayout(target, now);
    if (layoutChange !== undefined) {
      if (isSame) return { geoSlot, ...layoutOf(collection), layoutChange };
      const message = `collection ${key} is being changed to ${nameOfLayout(now)}; complete that or undo it first`;
      throw new CellportError('CONFLICT', message, { collection: key });
    }
    if (isSame) throw badInput('layout', nameOfLayout(target), 'different from the current layout');
    return { geoSlot, ...now, layoutChange: { ...target, phase: 'FILL', step: version + 1 } };
  };
  return changeLayouts(call, key, decide);
}

/** Undoes the change of a layout in progress; `repartition` must then complete it. Throws NOT_FOUND or CONFLICT. */
export function undoLayoutChange(call: Call, key: string): Promise<Collection> {
  const decide = (collection: Collection): Layouts => {
    if (collection.layoutChange !== undefined) return undoneLayouts(collection);
    const message = `the layout of collection ${key} is not being changed; name the one to return to`;
    throw new CellportError('CONFLICT', message, { collection: key });
  };
  return changeLayouts(call, key, decide);
}

/**
 * Begins what follows the phase in which a collection was read. Throws NOT_FOUND, or LayoutChanged if it is no longer
 * in it.
 */
export function endPhase(call: Call, read: Collection): Promise<Collection> {
  const decide = (collection: Collection): Layouts => {
    if (collection.createdAt !== read.createdAt) throw notFound('collection', read.key);
    if (collection.layoutChange?.step === read.layoutChange?.step) return nextLayouts(collection);
    throw new LayoutChanged(collection);
  };
  return changeLayouts(call, read.key, decide);
}

/** The key of the job that changes the layout of a collection. */
export function repartitionJob({ keys }: Database, collection: Collection): Key {
  return keys.job(keys.scope(collection), 'repartition');
}
