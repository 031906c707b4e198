import { isDeepStrictEqual } from 'node:util';

import { NO_SUMS } from '../geo/cell-sums.js';
import { PLACE_CHILD, placeOfParent, placeParent, type CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { Place, PlaceCount } from '../model/place.js';
import type { Call } from '../store/database.js';
import { queryPlaceMarkers, type PlaceMarkers, type PlaceQuery } from '../store/marker/place-index.js';
import { queryResponses } from '../store/table/query-responses.js';
import type { BlockParts } from './block-loader.js';
import type { Budget } from './budget.js';

/** Reads places and their markers for one request. */
export class PlaceLoader {
  readonly #call: Call;
  readonly #recentIn: BlockParts['recentIn'];

  constructor(call: Call, recentIn: BlockParts['recentIn']) {
    this.#call = call;
    this.#recentIn = recentIn;
  }

  /** Markers by place, from one Query. */
  async markers(collection: Collection, query: PlaceQuery, budget: Budget): Promise<PlaceMarkers> {
    budget.debit({ calls: 1 });
    return queryPlaceMarkers(this.#call, collection, query);
  }

  /**
   * The places with markers directly below a place, in no particular order, according to counts; undefined if there are more
   * than `most` items. A place that has lost its last marker keeps its item, which counts towards that number.
   */
  async counts(collection: Collection, under: Place, most: number): Promise<PlaceCount[] | undefined> {
    const { keys } = this.#call.db;
    const recent = await this.#recentIn(collection);
    const found = new Map<string, CellBlock>();
    let items = 0;
    const pk = keys.placesPartition(keys.scope(collection), under);
    for await (const response of queryResponses(this.#call, { index: 'derived', pk }, most + 1)) {
      items += response.length;
      if (items > most) return undefined;
      for (const { sk, n, b } of response) {
        const place = keys.parsePlaceCount({ pk, sk: String(sk) })?.place;
        if (place === undefined) continue;
        const parent = placeParent(place);
        const children = new Map([[PLACE_CHILD, { ...NO_SUMS, count: Number(n) }]]);
        found.set(parent, { parent, batch: Number(b), children });
      }
    }
    for (const parent of recent.parents()) {
      const place = placeOfParent(parent);
      const isBelow = place?.length === under.length + 1 && isDeepStrictEqual(place.slice(0, -1), under);
      if (isBelow && !found.has(parent)) found.set(parent, { parent, batch: 0, children: new Map() });
    }
    return Array.from(found.values(), (block): PlaceCount => {
      const place = placeOfParent(block.parent) ?? [];
      const { count } = recent.over(block).children.get(PLACE_CHILD) ?? NO_SUMS;
      return { name: place.at(-1) ?? '', place, count };
      // Below zero if the counts have missed records, which is then reported as a gap.
    }).filter(({ count }) => count > 0);
  }
}
