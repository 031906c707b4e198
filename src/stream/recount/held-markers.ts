import { setImmediate } from 'node:timers/promises';

import { compareBytes } from '../../keys/byte-order.js';
import type { Keyspace } from '../../keys/keyspace.js';
import { jsonOf } from '../../model/json.js';
import type { MapMarker } from '../../model/marker.js';
import type { Place } from '../../model/place.js';
import { orderedMarker, type OrderedMarker } from '../../pages/ordered-marker.js';
import { contributionOf, type WireImage } from '../change.js';
import { entryOf } from '../pages/fold.js';
import type { Partition } from './pages.js';

/** A marker in the form of pages, with the place at which it counts, and its size. */
export interface HeldMarker {
  readonly entry: OrderedMarker;
  readonly place: Place;
  readonly bytes: number;
}

/** All markers of a collection in one partition of its pages, in order. */
export interface HeldPartition extends Partition {
  readonly markers: readonly HeldMarker[];
}

type Stored = readonly [Omit<MapMarker, 'collection'>, Place, number];

/** Texts of markers by the first characters of their geohashes, by collection. */
type Areas = Map<string, Map<string, string[]>>;

interface Text {
  readonly scope: string;
  readonly area: string;
  readonly text: string;
}

/** Areas are sorted one by one, so that no step keeps a server busy for long. */
const AREA_LENGTH = 3;
const READ_AT_A_TIME = 1_000;

function addTo(areas: Areas, { scope, area, text }: Text): void {
  const ofScope = areas.get(scope) ?? new Map<string, string[]>();
  const texts = ofScope.get(area) ?? [];
  areas.set(scope, ofScope.set(area, texts));
  texts.push(text);
}

function* markersOf(texts: readonly string[] = []): Generator<HeldMarker> {
  for (const text of texts) {
    const [marker, place, bytes] = JSON.parse(text) as Stored;
    yield { entry: orderedMarker({ ...marker, collection: '' }), place, bytes };
  }
}

/** The markers collected by a recount, as text, because objects would take several times the memory. */
export class HeldMarkers {
  readonly #keys: Keyspace;
  readonly #scanned: Areas = new Map();
  /** Overrides of the scan: by collection and key, undefined for a marker that does not exist. */
  readonly #overrides = new Map<string, Text | undefined>();

  constructor(keys: Keyspace) {
    this.#keys = keys;
  }

  /** Adds a scanned item, unless it is not a valid marker. */
  add(scope: string, image: WireImage): void {
    const text = this.#textOf(scope, image);
    if (text !== undefined) addTo(this.#scanned, text);
  }

  /** Whether an image overrides what a scan finds of a marker. */
  isOverridden(scope: string, key: string): boolean {
    return this.#overrides.has(markerKey(scope, key));
  }

  /** Overrides what a scan finds of a marker with an image; undefined if the marker does not exist. */
  override(scope: string, key: string, image: WireImage | undefined): void {
    this.#overrides.set(markerKey(scope, key), image && this.#textOf(scope, image));
  }

  #textOf(scope: string, image: WireImage): Text | undefined {
    const contribution = contributionOf(image);
    const entry = entryOf(this.#keys, image);
    if (typeof contribution === 'string' || entry === undefined) return undefined;
    const { collection: _, ...marker } = entry.marker;
    return {
      scope,
      area: entry.position.slice(0, AREA_LENGTH),
      text: jsonOf([marker, contribution.place, contribution.bytes] satisfies Stored),
    };
  }

  /** Yields all markers, partition by partition, and removes them; or keeps them, and yields only those that are wanted. */
  async *take(wanted?: (of: Partition) => boolean): AsyncGenerator<HeldPartition> {
    const overrides: Areas = new Map();
    for (const text of this.#overrides.values()) if (text !== undefined) addTo(overrides, text);
    for (const scope of new Set([...this.#scanned.keys(), ...overrides.keys()])) {
      const scanned = this.#scanned.get(scope) ?? new Map<string, string[]>();
      const overriding = overrides.get(scope) ?? new Map<string, string[]>();
      const areas = [...new Set([...scanned.keys(), ...overriding.keys()])]
        .filter((area) => wanted?.({ scope, partition: area.charAt(0) }) ?? true)
        .sort();
      let markers: HeldMarker[] = [];
      for (const [index, area] of areas.entries()) {
        const all = [...markersOf(overriding.get(area))];
        let read = 0;
        for (const marker of markersOf(scanned.get(area))) {
          if (!this.isOverridden(scope, marker.entry.marker.key)) all.push(marker);
          // All markers may be in one town.
          if ((read += 1) % READ_AT_A_TIME === 0) await setImmediate();
        }
        if (wanted === undefined) scanned.delete(area);
        all.sort((a, b) => compareBytes(a.entry.position, b.entry.position));
        for (const marker of all) markers.push(marker);
        await setImmediate();
        if (areas[index + 1]?.charAt(0) === area.charAt(0)) continue;
        if (markers.length > 0) yield { scope, partition: area.charAt(0), markers };
        markers = [];
      }
    }
  }
}

const markerKey = (scope: string, key: string) => `${scope}\n${key}`;
