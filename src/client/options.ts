import type {
  ClientAutoFragment,
  ClientCellFragment,
  ClientMarkerFragment,
  ClientZonesFragment,
  MarkerFilter,
} from './generated.js';
import type { Bounds } from './tiles.js';

export type MapMarker = ClientMarkerFragment;
export type MapCell = ClientCellFragment;
/** Its `geometry` is GeoJSON, simplified for the zoom; null if it could not be read. */
export type MapZone = ClientZonesFragment['nodes'][number];

/** Several markers drawn as one, at their mean position. */
export type MapCluster = ClientAutoFragment['clusters'][number];

/** `auto`: markers if few are on the screen, otherwise clusters; `cells`: a heatmap; `zones`: outlines. */
export type Content = 'auto' | 'markers' | 'cells' | 'zones';

type Headers = Readonly<Record<string, string>>;

/** The server, and how to ask it. */
export interface ServerOptions {
  /** URL of Cellport's /graphql. */
  readonly url: string;
  /** Whether to request cost and reads, which then appear in `state.answer` (default false). */
  readonly explain?: boolean | undefined;
  /**
   * Headers to send with each request and as the payload of `connection_init`, or a function that returns them each time,
   * for tokens that expire. It is called once more, with `true`, when the server has refused what it returned: a token that
   * was kept is then to be replaced.
   */
  readonly headers?: Headers | ((isRefused: boolean) => Headers | Promise<Headers>) | undefined;
}

export interface ViewportOptions extends ServerOptions {
  /** Key of the collection. */
  readonly collection: string;
  /** Default: `auto`. */
  readonly content?: Content | undefined;
  /**
   * For `auto`, the maximum number of markers on the screen that are drawn individually (default 500); for `markers` and
   * `zones`, the page size.
   */
  readonly limit?: number | undefined;
  /** Only markers that match; for `auto` and `markers`. */
  readonly filter?: MarkerFilter | undefined;
  /** For `cells`, the length of their geohashes at a whole zoom. Default: of cells 24 to 192 px wide. */
  readonly precision?: ((zoom: number) => number) | undefined;
  /** Margin around the screen that is also loaded, in px (default 64). */
  readonly padding?: number | undefined;
  /** How long a map must be still before anything is loaded, in ms (default 100); while it keeps moving, four times that. */
  readonly debounce?: number | undefined;
  /** Whether to follow live changes (default true). If false, content older than a minute is reloaded. */
  readonly live?: boolean | undefined;
  /**
   * Whether positions, cells and zones are moved by whole turns into the copy of the world that the view shows, for map
   * libraries that draw each once, such as Leaflet. Default: false, longitudes of -180 to 180.
   */
  readonly unwrap?: boolean | undefined;
}

/** `extensions.cost` of a response. */
export interface Cost {
  readonly queries: number;
  readonly getItems: number;
  readonly readUnits: number;
  readonly itemsScanned: number;
  readonly itemsReturned: number;
  readonly cacheHits: number;
}

/** An entry of `extensions.reads`: a key range, read by one Query call or from a cache. */
export interface RangeRead {
  readonly index: string;
  readonly pk: string;
  /** First and last sort key; null if the range is open. */
  readonly from: string | null;
  readonly to: string | null;
  /** Bounding box of the range's cells; null if its keys are not geohashes. */
  readonly bounds: Bounds | null;
  /** The range's cells: all geohashes of one length between these two. */
  readonly geohashes: { readonly first: string; readonly last: string } | null;
  readonly items: number;
  readonly readUnits: number;
  readonly cached: boolean;
}

/** An entry of `extensions.pages`: a page of markers that was used, with the bounding box of all its markers. */
export interface PageRead {
  /** Null if the page has no markers. */
  readonly bounds: Bounds | null;
  readonly markers: number;
}

/** What a server says of a request. */
export interface Explained {
  /** Null if the server does not report it. */
  readonly cost: Cost | null;
  readonly reads: readonly RangeRead[];
  readonly readsLeftOut: number;
  readonly pages: readonly PageRead[];
}

/** What one request loaded, and its cost. */
export interface Answer extends Explained {
  readonly regions: readonly Bounds[];
  /** Time from sending the request to having parsed the response. */
  readonly ms: number;
}

/** The content that a map draws. */
export interface TileContent {
  readonly markers: readonly MapMarker[];
  readonly clusters: readonly MapCluster[];
  readonly cells: readonly MapCell[];
  readonly zones: readonly MapZone[];
}

/** The content that a map draws, and the state of loading it. A list is replaced whenever its content changes. */
export interface ViewportState extends TileContent {
  readonly loading: boolean;
  /** Error of the last request; content loaded before is kept. */
  readonly error: Error | null;
  /** The last response, with cost and reads if `explain` is on. */
  readonly answer: Answer | null;
}
