import type { Keyspace } from '../../keys/keyspace.js';
import { sortKeyOf, type BudgetedRange, type RangeLoader } from '../../loaders/range-loader.js';
import { remembered } from '../../loaders/remembered.js';
import type { Collection } from '../../model/collection.js';
import { orderedMarker, type OrderedMarker } from '../../pages/ordered-marker.js';
import type { Item } from '../../store/database.js';
import { mapMarkerFromIndex } from '../../store/marker/marker-item.js';

/** Markers of one range of the geo index. */
export interface IndexedMarkers {
  /**
   * Sorted by sort key; the first ones of the range if it is not complete. All callers that read the same item get the
   * same object.
   */
  readonly markers: readonly OrderedMarker[];
  /**
   * The sort key after which the rest of the range starts, if this part is not complete; undefined if nothing was read.
   */
  readonly resumeAfter: string | undefined;
  readonly complete: boolean;
}

/** Reads markers of the geo index for one request. */
export class IndexLoader {
  readonly #keys: Keyspace;
  readonly #ranges: RangeLoader;
  readonly #decoded = new WeakMap<Item, OrderedMarker | null>();

  constructor(keys: Keyspace, ranges: RangeLoader) {
    this.#keys = keys;
    this.#ranges = ranges;
  }

  /** Markers in one range; other items are omitted. */
  async load(collection: Collection, request: BudgetedRange): Promise<IndexedMarkers> {
    const { items, complete } = await this.#ranges.load(request);
    const markers = items.map((item) => this.#decode(item, collection)).filter((marker) => marker !== null);
    request.budget.debit({ items: markers.length });
    const last = items.at(-1);
    return { markers, resumeAfter: complete || !last ? undefined : sortKeyOf(request.range.index, last), complete };
  }

  #decode(item: Item, collection: Collection): OrderedMarker | null {
    return remembered(this.#decoded, item, () => {
      const marker = mapMarkerFromIndex(this.#keys, item, collection.key);
      return marker ? orderedMarker(marker) : null;
    });
  }
}
