import { isDeepStrictEqual } from 'node:util';

import type { Keyspace } from '../../keys/keyspace.js';
import { orderedMarker, type OrderedMarker } from '../../pages/ordered-marker.js';
import { following, lifeOf, type RecentWrite } from '../../pages/recent-writes.js';
import { EXPIRY, mapMarkerFromIndex } from '../../store/marker/marker-item.js';
import { attributesOf } from '../../store/request/wire.js';
import { DRAWN_ATTRIBUTES } from '../../store/table/table-definitions.js';
import type { WireImage } from '../change.js';
import type { PageChange } from './apply.js';

const NAMES = ['pk', 'sk', ...DRAWN_ATTRIBUTES, EXPIRY];

/** A record of a marker: its images before and after, undefined where it did not exist. */
interface MarkerRecord {
  readonly scope: string;
  readonly key: string;
  readonly before: WireImage | undefined;
  readonly after: WireImage | undefined;
}

/** Writes to markers, of each the last one, by scope and key. */
export type WritesByScope = ReadonlyMap<string, ReadonlyMap<string, RecentWrite>>;

interface Net {
  readonly scope: string;
  readonly before: OrderedMarker | undefined;
  readonly after: OrderedMarker | undefined;
}

/**
 * The page entry of the marker in an image; undefined if it is not a valid marker. Pages do not store the collection's
 * key.
 */
export function entryOf(keys: Keyspace, image: WireImage | undefined): OrderedMarker | undefined {
  if (image === undefined) return undefined;
  const marker = mapMarkerFromIndex(keys, attributesOf(image as Parameters<typeof attributesOf>[0], NAMES), '');
  return marker && orderedMarker(marker);
}

/** The net changes of markers: the first image before and the last image after. */
export class PageFold {
  readonly #changes = new Map<string, Net>();
  /** What was written since this was last taken, by scope and key; undefined if nobody takes it. */
  #recent: Map<string, Map<string, RecentWrite>> | undefined;

  constructor({ keepsRecent }: { readonly keepsRecent: boolean }) {
    if (keepsRecent) this.#recent = new Map();
  }

  add(keys: Keyspace, { scope, key, before, after }: MarkerRecord): void {
    const name = `${scope}\n${key}`;
    const known = this.#changes.get(name);
    const [was, is] = [known ? known.after : entryOf(keys, before), entryOf(keys, after)];
    this.#changes.set(name, { scope, before: known ? known.before : was, after: is });
    if (this.#recent === undefined) return;
    const recent = this.#recent.get(scope) ?? new Map<string, RecentWrite>();
    this.#recent.set(scope, recent);
    const versions = [recent.get(key)?.mapVersion, was?.marker.mapVersion, is?.marker.mapVersion];
    const mapVersion = Math.max(...versions.map((version = 0) => version));
    const [ended, present] = [before?.['life']?.['S'], after?.['life']?.['S']];
    const life = lifeOf(is ? present : ended, (is ?? was)?.marker.mapVersion ?? 0, ended);
    recent.set(key, following({ key, mapVersion, entry: is, life }, recent.get(key)));
  }

  /** The writes since this was last called, of each marker the last one, by scope. */
  takeRecent(): WritesByScope {
    const recent = this.#recent;
    this.#recent &&= new Map();
    return recent ?? new Map();
  }

  /** Without markers whose page entries stay the same. */
  changes(): PageChange[] {
    return [...this.#changes.values()]
      .filter(({ before, after }) => !isDeepStrictEqual(before, after))
      .map(({ scope, before, after }) => ({ scope, before: before?.position, after }));
  }
}
