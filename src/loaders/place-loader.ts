import type { Collection } from '../model/collection.js';
import type { Place, PlaceCount } from '../model/place.js';
import type { Database } from '../store/database.js';
import { queryPlaceMarkers, type PlaceMarkers, type PlaceQuery } from '../store/marker/place-index.js';
import type { Call } from '../store/request/meter.js';
import { rangeRequest } from '../store/request/ranges.js';
import { queryResponses } from '../store/table/query-responses.js';
import type { Budget } from './budget.js';

/** Reads places and their markers for one request. */
export class PlaceLoader {
  readonly #db: Database;
  readonly #call: Call;

  constructor(db: Database, call: Call) {
    this.#db = db;
    this.#call = call;
  }

  /** Markers by place, from one Query. */
  async markers(collection: Collection, query: PlaceQuery, budget: Budget): Promise<PlaceMarkers> {
    budget.debit({ calls: 1 });
    return queryPlaceMarkers(this.#db, collection, query, this.#call);
  }

  /**
   * The places with markers directly below a place, in key order, according to stored counts; undefined if there are more
   * than `most` items. A place that has lost its last marker keeps its item, which counts towards that number.
   */
  async counts(collection: Collection, under: Place, most: number): Promise<PlaceCount[] | undefined> {
    const { keys } = this.#db;
    const found: PlaceCount[] = [];
    let items = 0;
    const pk = keys.placesPartition(keys.scope(collection), under);
    const request = rangeRequest(this.#db, { index: 'derived', pk });
    for await (const response of queryResponses(this.#db, request, this.#call, most + 1)) {
      items += response.length;
      if (items > most) return undefined;
      for (const { sk, n } of response) {
        const place = keys.parsePlaceCount({ pk, sk: String(sk) })?.place;
        const name = place?.at(-1);
        // Below zero if the counts have missed records, which is then reported as a gap.
        if (place === undefined || name === undefined || typeof n !== 'number' || n <= 0) continue;
        found.push({ name, place, count: n });
      }
    }
    return found;
  }
}
