/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/**
 * A rectangle as a map library reports it. All four edges belong to it, so one without width or height finds what lies
 * exactly on it.
 */
export type BoundsInput = {
  /** The right edge in degrees east; 360 or more beyond `west` is the whole way around. */
  readonly east: number;
  /** The upper edge in degrees north, at least `south`. Beyond -90 or 90 it is moved to the pole. */
  readonly north: number;
  /** The lower edge in degrees north, at most `north`. Beyond -90 or 90 it is moved to the pole. */
  readonly south: number;
  /**
   * The left edge in degrees east. Any finite number: a map that was panned around the globe may send 190 or -540. Where it
   * is greater than `east` once both are wrapped to -180..180, the rectangle crosses the antimeridian.
   */
  readonly west: number;
};

/** What can happen to a marker. */
export type ChangeKind =
  /** It was made. */
  | 'CREATED'
  /** It was deleted. */
  | 'DELETED'
  /** It moved into the rectangle. */
  | 'ENTERED'
  /** It moved out of the rectangle, and is told with its new position. */
  | 'LEFT'
  /** It has another position; both are in the rectangle, where one is given. */
  | 'MOVED'
  /** Something about it changed, and it stayed where it was. */
  | 'UPDATED';

/** How the content of a viewport is drawn. */
export type ContentMode =
  /** Gathered into clusters, because there are too many. */
  | 'CLUSTERS'
  /** Each marker by itself. */
  | 'MARKERS';

/**
 * Which markers to keep: those that pass every part that is given. What the geographic index does not hold (`updatedAfter`,
 * properties that no map draws) is looked up in the markers themselves; where that would take too many reads, it fails with
 * LIMIT_EXCEEDED.
 */
export type MarkerFilter = {
  /** Any of these categories, letter by letter. */
  readonly category?: ReadonlyArray<string> | null | undefined;
  /** All of these comparisons. */
  readonly properties?: ReadonlyArray<PropertyFilter> | null | undefined;
  /** Changed later than this instant. */
  readonly updatedAfter?: string | null | undefined;
};

/**
 * One comparison with one property; exactly one of the fields besides `name` must be given. A marker without the property
 * passes only `ne` and `exists: false`.
 */
export type PropertyFilter = {
  /** A string that has this in it, or a list that has this string as a member; capitals count. */
  readonly contains?: string | null | undefined;
  /** The same JSON value. */
  readonly eq?: unknown;
  /** Whether the property is there at all, be it null. */
  readonly exists?: boolean | null | undefined;
  /** Greater: numbers by size, strings by their characters' code units. A property of another type does not pass. */
  readonly gt?: unknown;
  /** Greater or the same. */
  readonly gte?: unknown;
  /** The same as one of these values. */
  readonly in?: ReadonlyArray<unknown> | null | undefined;
  /** Less. */
  readonly lt?: unknown;
  /** Less or the same. */
  readonly lte?: unknown;
  /** Name of the property. */
  readonly name: string;
  /** Another JSON value, or none at all. */
  readonly ne?: unknown;
};

export type ClientMarkerFragment = { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } };

export type ClientAutoFragment = { readonly mode: ContentMode, readonly markers: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } }>, readonly clusters: ReadonlyArray<{ readonly count: number, readonly position: { readonly lng: number, readonly lat: number }, readonly bounds: { readonly west: number, readonly south: number, readonly east: number, readonly north: number } }> };

export type ClientMarkersFragment = { readonly nodes: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } };

export type ClientCellFragment = { readonly geohash: string, readonly precision: number, readonly count: number, readonly bounds: { readonly west: number, readonly south: number, readonly east: number, readonly north: number }, readonly centroid: { readonly lng: number, readonly lat: number } };

export type ClientZonesFragment = { readonly nodes: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly geometry: unknown, readonly bounds: { readonly west: number, readonly south: number, readonly east: number, readonly north: number } }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } };

export type ClientExpandQueryVariables = Exact<{
  bounds: BoundsInput;
  zoom: number;
  collection: string;
  filter?: MarkerFilter | null | undefined;
}>;


export type ClientExpandQuery = { readonly viewport: { readonly auto: { readonly markers: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } }>, readonly clusters: ReadonlyArray<{ readonly expansionZoom: number, readonly bounds: { readonly west: number, readonly south: number, readonly east: number, readonly north: number }, readonly marker: { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } } | null }> } | null } | null };

export type ClientChangesSubscriptionVariables = Exact<{
  collection: string;
  bounds: BoundsInput;
  since?: string | null | undefined;
}>;


export type ClientChangesSubscription = { readonly markerChanged: { readonly kind: ChangeKind, readonly id: string, readonly marker: { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } } | null, readonly previous: { readonly lng: number, readonly lat: number } | null } };
