import type { ClientCellFragment, ClientMarkerFragment, ClientZonesFragment, MarkerFilter } from './generated.js';
import type { Bounds } from './tiles.js';

export type MapMarker = ClientMarkerFragment;
export type MapCell = ClientCellFragment;
/** Its `geometry` is GeoJSON, simplified for the zoom; null where it could not be read. */
export type MapZone = ClientZonesFragment['nodes'][number];

/** Markers that are drawn as one, because there are too many. */
export interface MapCluster {
  /** The mean position of its markers. */
  readonly position: { readonly lng: number; readonly lat: number };
  readonly bounds: Bounds;
  readonly count: number;
}

/** `auto` is markers while few are on the screen, else clusters; `cells` are for heatmaps; `zones` are outlines. */
export type Content = 'auto' | 'markers' | 'cells' | 'zones';

export interface ViewportOptions {
  /** Of Cellport's /graphql. */
  readonly url: string;
  /** Key of the collection. */
  readonly collection: string;
  /** `auto` where it is left out. */
  readonly content?: Content | undefined;
  /**
   * `auto`: the most markers of a screen that are drawn one by one, 500 where it is left out; `markers` and `zones`: the
   * size of a page.
   */
  readonly limit?: number | undefined;
  /** Only markers that pass; for `auto` and `markers`. */
  readonly filter?: MarkerFilter | undefined;
  /** Px around what is shown that are asked for, too; 64 where it is left out. */
  readonly padding?: number | undefined;
  /** Ms that a map has to stand still before anything is asked; 100 where it is left out. While it moves, once in four times that. */
  readonly debounce?: number | undefined;
  /** Whether to follow changes, which is so where it is left out. Else what is older than a minute is asked for again. */
  readonly live?: boolean | undefined;
  /** Whether to ask what requests cost and read, told in `state.answer`. */
  readonly explain?: boolean | undefined;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Figures of `extensions.cost`. */
export interface Cost {
  readonly queries: number;
  readonly getItems: number;
  readonly readUnits: number;
  readonly itemsScanned: number;
  readonly itemsReturned: number;
  readonly cacheHits: number;
}

/** A range that was read by one Query call, or answered from a cache, of `extensions.reads`. */
export interface Read {
  readonly index: string;
  readonly pk: string;
  /** Sort keys, both included; null where the range is open. */
  readonly from: string | null;
  readonly to: string | null;
  /** Around all cells of the range; null where it is not one of places on the globe. */
  readonly bounds: Bounds | null;
  /** Its cells are all geohashes from one to another of the same length. */
  readonly geohashes: { readonly first: string; readonly last: string } | null;
  readonly items: number;
  readonly readUnits: number;
  readonly cached: boolean;
}

/** What one request asked and took. */
export interface Answer {
  readonly regions: readonly Bounds[];
  /** From sending to having read the answer. */
  readonly ms: number;
  /** Null where the server does not tell. */
  readonly cost: Cost | null;
  readonly reads: readonly Read[];
  readonly readsLeftOut: number;
}

/** What a map draws. Lists are new whenever their content is. */
export interface ViewportState {
  readonly markers: readonly MapMarker[];
  readonly clusters: readonly MapCluster[];
  readonly cells: readonly MapCell[];
  readonly zones: readonly MapZone[];
  readonly loading: boolean;
  /** Of the last request; what was known stays. */
  readonly error: Error | null;
  /** Of the last request, with `explain`. */
  readonly answer: Answer | null;
}
