/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/**
 * A bounding box as map libraries report it. All four edges are included, so a box without width or height matches markers
 * that lie exactly on it.
 */
export type BoundsInput = {
  /** Eastern edge in degrees east. 360 degrees or more beyond `west` covers all longitudes. */
  readonly east: number;
  /** Northern edge in degrees north, at least `south`. Values beyond the poles are clamped to -90..90. */
  readonly north: number;
  /** Southern edge in degrees north, at most `north`. Values beyond the poles are clamped to -90..90. */
  readonly south: number;
  /**
   * Western edge in degrees east. Any finite number: a map panned around the globe may send 190 or -540. If it is greater
   * than `east` after both are wrapped to -180..180, the box crosses the antimeridian.
   */
  readonly west: number;
};

/** Kinds of change to a marker. */
export type ChangeKind =
  /** Created. */
  | 'CREATED'
  /** Deleted. */
  | 'DELETED'
  /** Moved into the bounds, or may be read from now on. */
  | 'ENTERED'
  /** Moved out of the bounds, where `marker` has the new position; or may no longer be read, where it is null. */
  | 'LEFT'
  /** Moved; inside the bounds both before and after, if the subscription has any. */
  | 'MOVED'
  /** Updated without moving. */
  | 'UPDATED';

/** Ways to return the content of a viewport. */
export type ContentMode =
  /** Clusters, because there are more markers than the limit. */
  | 'CLUSTERS'
  /** One entry per marker. */
  | 'MARKERS';

/**
 * Conditions on markers, all of which must match. Fields that the geographic index does not hold (`updatedAfter`, and
 * properties not in `mapProperties`) require reading the markers themselves; a filter that would exceed the read budget
 * fails with LIMIT_EXCEEDED.
 */
export type MarkerFilter = {
  /** Category is one of these, compared case-sensitively: up to 1,000. */
  readonly category?: ReadonlyArray<string> | null | undefined;
  /** All of these comparisons match: up to 50. */
  readonly properties?: ReadonlyArray<PropertyFilter> | null | undefined;
  /** Updated after this time. */
  readonly updatedAfter?: string | null | undefined;
};

/**
 * A comparison of one property with exactly one operator. Markers without the property match only `ne` and `exists:
 * false`.
 */
export type PropertyFilter = {
  /** A string that contains this substring, or a list that contains this string; case-sensitive. */
  readonly contains?: string | null | undefined;
  /** Equal to this JSON value: up to 32 levels deep and 20,000 characters long. */
  readonly eq?: unknown;
  /** Whether the property is present, even if its value is null. */
  readonly exists?: boolean | null | undefined;
  /** Greater than this number or string; strings are compared by code units. Values of another type do not match. */
  readonly gt?: unknown;
  /** Greater than or equal to this number or string. */
  readonly gte?: unknown;
  /** Equal to one of these JSON values: up to 1,000, of 20,000 characters together. */
  readonly in?: ReadonlyArray<unknown> | null | undefined;
  /** Less than this number or string. */
  readonly lt?: unknown;
  /** Less than or equal to this number or string. */
  readonly lte?: unknown;
  /** Name of the property. */
  readonly name: string;
  /** Not equal to this JSON value, or missing. */
  readonly ne?: unknown;
};

export type ClientBoundsFragment = { readonly west: number, readonly south: number, readonly east: number, readonly north: number };

export type ClientMarkerFragment = { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } };

export type ClientAutoFragment = { readonly mode: ContentMode, readonly markers: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } }>, readonly clusters: ReadonlyArray<{ readonly geohashes: ReadonlyArray<string>, readonly count: number, readonly position: { readonly lng: number, readonly lat: number }, readonly bounds: { readonly west: number, readonly south: number, readonly east: number, readonly north: number } }> };

export type ClientMarkersFragment = { readonly nodes: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } };

export type ClientCellFragment = { readonly geohash: string, readonly precision: number, readonly count: number, readonly bounds: { readonly west: number, readonly south: number, readonly east: number, readonly north: number }, readonly centroid: { readonly lng: number, readonly lat: number } };

export type ClientZonesFragment = { readonly nodes: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly geometry: unknown, readonly bounds: { readonly west: number, readonly south: number, readonly east: number, readonly north: number } }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } };

export type ClientExpandQueryVariables = Exact<{
  bounds: BoundsInput;
  zoom: number;
  collection: string;
  filter?: MarkerFilter | null | undefined;
}>;


export type ClientExpandQuery = { readonly viewport: { readonly auto: { readonly markers: ReadonlyArray<{ readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } }>, readonly clusters: ReadonlyArray<{ readonly geohashes: ReadonlyArray<string>, readonly expansionZoom: number, readonly marker: { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } } | null }> } | null } | null };

export type ClientChangesSubscriptionVariables = Exact<{
  collection: string;
  bounds: BoundsInput;
  since?: string | null | undefined;
}>;


export type ClientChangesSubscription = { readonly markerChanged: { readonly kind: ChangeKind, readonly id: string, readonly sequence: string, readonly marker: { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly properties: Readonly<Record<string, unknown>>, readonly position: { readonly lng: number, readonly lat: number } } | null, readonly previous: { readonly lng: number, readonly lat: number } | null } };
