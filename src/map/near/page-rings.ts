import { distance } from '../../geo/distance.js';
import { entriesOf } from '../../loaders/pages/chain.js';
import type { OpenPages } from '../../loaders/pages/page-loader.js';
import type { MapMarker } from '../../model/marker.js';
import type { Directory } from '../../pages/directory.js';
import { type PlannedRead, expectedOf, planReads, requestsOf } from '../../pages/plan-reads.js';
import { ringCover } from '../../plan/rings.js';
import type { MapContext } from '../context.js';
import { type NearPosition, compareNear } from './by-distance.js';
import { MARKERS_AN_ITEM } from '../markers/page-source.js';
import type { NearQuery, ReadRing, RingQuestion, Rings } from './rings.js';

/** The least distance that is looked at, in metres, and how often it is doubled at most: from there to half around the globe. */
const NEAREST = 150;
/** How often the distance found by doubling is refined. */
const REFINED = 3;
/**
 * What a request is worth, in half read units. Rings cross many partitions: on 135,233 cities, four times as much as for a map
 * takes a fifth of the calls of a nearest query away, for a tenth more read units.
 */
const REQUEST = 2;
/** How often a ring is halved that takes too much to read at once. */
const HALVINGS = 12;

/** The reads of pages around a center that are not known yet. */
interface PlannedRing {
  readonly to: number;
  readonly directory: Directory;
  readonly cover: ReturnType<typeof ringCover>;
  readonly reads: readonly PlannedRead[];
}

/**
 * Reads rings from pages. The directory shows, without a read, how far the pages with as many markers as are wanted reach. What
 * they hold shows how far the wanted markers reach, and only pages that begin nearer than that are read then.
 */
export class PageRings implements Rings {
  readonly #context: MapContext;
  readonly #query: NearQuery;
  readonly #pages: OpenPages;
  /** Markers of all pages that were read, by key. */
  readonly #markers = new Map<string, { readonly marker: MapMarker; readonly far: number }>();
  readonly #known = new Set<string>();
  readonly #done: PlannedRead[] = [];

  constructor(context: MapContext, query: NearQuery, pages: OpenPages) {
    this.#context = context;
    this.#query = query;
    this.#pages = pages;
  }

  async next({ after, goal }: RingQuestion): Promise<ReadRing | { readonly scanUpTo: number }> {
    const { distance: from } = after;
    const { radius } = this.#query;
    let ring = await this.#reach(from, goal);
    for (;;) {
      const affordable = await this.#affordable(from, ring);
      if (!affordable) return { scanUpTo: ring.to };
      await this.#read(affordable);
      const enough = this.#distanceOf(after, goal);
      const { to } = affordable;
      if (to >= radius || (enough !== undefined && enough <= to)) {
        return { to, markers: Array.from(this.#markers.values(), ({ marker }) => marker) };
      }
      ring =
        enough === undefined ? await this.#reach(from, goal, to) : await this.#plan(from, Math.min(enough, radius));
    }
  }

  /** The distance of the marker that is the last of the wanted ones, as far as markers are known. */
  #distanceOf(after: NearPosition, goal: number): number | undefined {
    const left: number[] = [];
    for (const [key, { far }] of this.#markers) if (compareNear({ distance: far, key }, after) > 0) left.push(far);
    return left.sort((a, b) => a - b)[Math.ceil(goal) - 1];
  }

  /** The ring beyond a distance whose pages have the wanted number of markers, by the directory. */
  async #reach(from: number, goal: number, beyond = from): Promise<PlannedRing> {
    const { radius } = this.#query;
    const has = ({ directory, cover }: PlannedRing) => expectedOf(planReads(directory, cover));
    let near = beyond;
    let to = Math.min(radius, Math.max(NEAREST, 1.2 * beyond));
    let ring = await this.#plan(from, to);
    while (to < radius && (has(ring) < goal || (beyond > from && ring.reads.length === 0))) {
      near = to;
      to = Math.min(radius, 2 * to);
      ring = await this.#plan(from, to);
    }
    for (let step = 0; step < REFINED; step++) {
      const middle = (near + to) / 2;
      const narrower = await this.#plan(from, middle);
      if (has(narrower) >= goal && (beyond === from || narrower.reads.length > 0)) {
        to = middle;
        ring = narrower;
      } else near = middle;
    }
    return ring;
  }

  async #plan(from: number, to: number): Promise<PlannedRing> {
    await this.#context.turn();
    const { center, budget } = this.#query;
    const cover = ringCover({ center, from, to });
    const directory = await this.#pages.directory(cover, budget);
    return { to, directory, cover, reads: planReads(directory, cover, { known: this.#known, request: REQUEST }) };
  }

  /** The ring, or as much of it as the budget pays for; undefined if it pays for none. */
  async #affordable(from: number, wanted: PlannedRing): Promise<PlannedRing | undefined> {
    const { budget } = this.#query;
    let ring = wanted;
    for (let halved = 0; halved <= HALVINGS; halved++) {
      const isCheap = expectedOf(ring.reads) <= MARKERS_AN_ITEM * budget.items;
      if (isCheap && requestsOf(ring.reads) <= budget.calls) return ring;
      ring = await this.#plan(from, from + (ring.to - from) / 2);
    }
    return undefined;
  }

  async #read({ directory, cover, reads }: PlannedRing): Promise<void> {
    const { center, budget } = this.#query;
    const found = await this.#pages.read({ directory, reads, earlier: this.#done, cover }, budget);
    this.#done.push(...reads);
    for (const pages of found.found) for (const { begin } of pages) this.#known.add(begin);
    const entries = entriesOf(found);
    budget.debit({ items: Math.ceil(entries.length / MARKERS_AN_ITEM) });
    const add = (marker: MapMarker) =>
      this.#markers.set(marker.key, { marker, far: distance(center, marker.position) });
    for (const { marker } of entries) {
      const known = this.#markers.get(marker.key)?.marker.mapVersion ?? -1;
      if (marker.mapVersion > known) add(marker);
    }
    for (const { key, mapVersion, entry } of this.#pages.ownWrites) {
      const known = this.#markers.get(key)?.marker.mapVersion ?? -1;
      if (known > mapVersion) continue;
      if (entry) add(entry.marker);
      else this.#markers.delete(key);
    }
    await this.#context.turn();
  }
}
