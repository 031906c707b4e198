import { entriesIn } from '../entries.js';
import { isMap, valueAt, type Item, type Path } from '../path.js';
import { nameOf } from './attributes.js';
import { proposePosition, type ProposedPosition } from './position.js';

const DEEPEST = 3;

export interface ProposedEntries extends ProposedPosition {
  readonly each: Path;
  /** That of an entry; undefined if it seems to have none. */
  readonly name: Path | undefined;
}

function listsIn(map: Item, base: Path = []): Path[] {
  return Object.entries(map).flatMap(([name, value]): Path[] => {
    const path = [...base, name];
    if (Array.isArray(value)) return [path];
    return isMap(value) && path.length < DEEPEST ? listsIn(value, path) : [];
  });
}

/** The list in items whose entries have positions; undefined if there is none. */
export function proposeEntries(items: readonly Item[]): ProposedEntries | undefined {
  const paths = new Map(items.flatMap((item) => listsIn(item)).map((path) => [JSON.stringify(path), path]));
  for (const each of paths.values()) {
    const entries = items.flatMap((item) => entriesIn({ each }, item).map((entry) => entry.item));
    const found = proposePosition(entries);
    if (!found) continue;
    const name = nameOf(entries.map((entry) => valueAt(entry, each)).filter(isMap));
    return { ...found, each, name: name && [...each, ...name] };
  }
  return undefined;
}
