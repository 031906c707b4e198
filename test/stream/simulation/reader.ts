import { addSums, NO_SUMS, type CellSums } from '../../../src/geo/cell-sums.js';
import type { Keyspace } from '../../../src/keys/keyspace.js';
import {
  cellBlock,
  PLACE_CHILD,
  placeOfParent,
  placeParent,
  SIZE_CHILD,
  SIZE_NAME,
  sumsOfBlock,
} from '../../../src/model/cell.js';
import { RecentCells } from '../../../src/pages/recent-cells.js';
import { changeOf, type Contribution } from '../../../src/stream/change.js';
import type { DerivedModel } from './derived-model.js';
import type { TableModel } from './table-model.js';

const shown = ({ count, sumLng, sumLat }: CellSums) => `${count} ${sumLng} ${sumLat}`;
/** Records of the simulation become visible late, and some answers of the stream are empty although records follow. */
const SEEN_AFTER_MS = 1_500;

/** What each marker of a scope has added to the counts since a time. */
function statesSince(table: TableModel, keys: Keyspace, scope: string, since: number) {
  const states = new Map<string, (Contribution | undefined)[]>();
  table.history.forEach((record, index) => {
    const change = changeOf(keys, record);
    if (change?.scope !== scope || change.key === undefined) return;
    const isOlder = (table.writtenAt[index] ?? 0) <= since;
    states.set(change.key, [...(isOlder ? [] : (states.get(change.key) ?? [undefined])), change.after]);
  });
  return [...states.values()];
}

/** What one marker adds to a finest cell, to the place with this name, or to the size. */
function addedTo(name: string, { cell, sums, place, bytes }: Contribution): CellSums {
  if (name === SIZE_NAME) return { count: bytes, sumLng: 1, sumLat: 0 };
  const names = placeOfParent(name);
  if (names === undefined) return cell === name ? sums : NO_SUMS;
  return placeParent(place.slice(0, names.length)) === name ? { ...NO_SUMS, count: 1 } : NO_SUMS;
}

/**
 * The counts that a server shows which lays what is published over blocks, and which the markers cannot have had since the
 * time that the state names: a record that counts twice, or never.
 */
export function wrongCounts(table: TableModel, derived: DerivedModel, keys: Keyspace, scopes: readonly string[]) {
  const { state, recent } = derived;
  if (!state?.published || state.gap !== null || state.pages === null || table.wasReplaced) return [];
  const { from, to, began, endAt } = state.published;
  if ((state.endAt ?? -Infinity) > endAt) return [];
  const { by, aheadMs = 0 } = recent.findLast(({ version }) => version <= to) ?? {};
  // The next owner gathers other batches: until it publishes, what is shown may be older.
  const since = by === state.owner ? endAt - aheadMs - SEEN_AFTER_MS : -Infinity;
  return scopes.flatMap((scope) => {
    const parts = recent.filter((part) => part.scope === scope && part.version >= from && part.version <= to);
    const lastOf = (version: number) =>
      Math.max(...parts.flatMap((one) => (one.version === version ? one.attempt : [])));
    const sums = parts
      .filter(({ version, attempt }) => attempt === lastOf(version))
      .flatMap((part) => part.sums.filter(({ batch }) => part.version >= began.version || batch < began.batch));
    const cells = RecentCells.NONE.with(sums).after(state.plan === null ? state.batch : state.batch - 1);
    const states = statesSince(table, keys, scope, since);
    const names = new Set(
      states.flat().flatMap((one) => {
        if (one === undefined) return [];
        return [SIZE_NAME, one.cell, ...one.place.map((_, index) => placeParent(one.place.slice(0, index + 1)))];
      }),
    );
    return [...names].flatMap((name) => {
      const isSize = name === SIZE_NAME;
      const parent = isSize ? '' : placeOfParent(name) === undefined ? name.slice(0, -1) : name;
      const { batch = 0, children } = derived.read({ scope, parent });
      const child = isSize ? SIZE_CHILD : parent === name ? PLACE_CHILD : name.slice(-1);
      const block = cells.over(cellBlock(parent, batch, children));
      const found = shown(sumsOfBlock(block).get(child) ?? NO_SUMS);
      let may = new Map([[shown(NO_SUMS), NO_SUMS]]);
      for (const of of states) {
        const added = of.map((one) => (one ? addedTo(name, one) : NO_SUMS));
        const all = [...may.values()].flatMap((sum) => added.map((more) => addSums(sum, more)));
        may = new Map(all.map((sum) => [shown(sum), sum]));
      }
      return may.has(found) ? [] : [`${name} of ${scope} shows ${found}, not ${[...may.keys()].join(' or ')}`];
    });
  });
}
