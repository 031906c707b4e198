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

/** A new marker in a batch; the batch names the collection. */
export type MarkerInput = {
  /** Kind of place. */
  readonly category?: string | null | undefined;
  /**
   * Key of the marker within the collection, 1 to 1,012 bytes of UTF-8. Required if the collection's `idStrategy` is
   * GIVEN; otherwise it must be omitted.
   */
  readonly key?: string | null | undefined;
  /** Display name. */
  readonly name?: string | null | undefined;
  /**
   * Path in the place hierarchy, outermost first: up to 12 names of 1 to 200 bytes of UTF-8. Names are compared after
   * Unicode NFC normalization.
   */
  readonly place?: ReadonlyArray<string> | null | undefined;
  /** Position of the marker. Required: markers without a valid position are listed in `failures`. */
  readonly position?: PointInput | null | undefined;
  /** Properties. The whole marker takes at most 400 KB in DynamoDB. */
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined;
};

/** A position on the globe. */
export type PointInput = {
  /** Latitude in degrees north, -90 to 90. */
  readonly lat: number;
  /** Longitude in degrees east, wrapped to -180..180. */
  readonly lng: number;
};

/** Changes to a marker. Omitted fields keep their values. */
export type UpdateMarkerInput = {
  /** Kind of place; null removes it. */
  readonly category?: string | null | undefined;
  /** Fails with CONFLICT, changing nothing, unless this is the marker's current version. */
  readonly expectedVersion?: number | null | undefined;
  /** ID of the marker. */
  readonly id: string;
  /** Display name; null removes it. */
  readonly name?: string | null | undefined;
  /** Path in the place hierarchy, see `CreateMarkerInput.place`; null or an empty list removes it. */
  readonly place?: ReadonlyArray<string> | null | undefined;
  /** New position: the marker moves. Must not be null. */
  readonly position?: PointInput | null | undefined;
  /** New properties, replacing all existing ones; null removes them. */
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined;
};

export type OwnMarkerFragment = { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly place: ReadonlyArray<string>, readonly properties: Readonly<Record<string, unknown>>, readonly version: number, readonly createdAt: string, readonly updatedAt: string, readonly position: { readonly lng: number, readonly lat: number } };

export type UpsertMutationVariables = Exact<{
  collection: string;
  markers: ReadonlyArray<MarkerInput> | MarkerInput;
}>;


export type UpsertMutation = { readonly result: { readonly created: number, readonly updated: number, readonly unchanged: number, readonly failures: ReadonlyArray<{ readonly index: number, readonly code: string, readonly message: string }> } };

export type GetQueryVariables = Exact<{
  id: string;
}>;


export type GetQuery = { readonly result: { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly place: ReadonlyArray<string>, readonly properties: Readonly<Record<string, unknown>>, readonly version: number, readonly createdAt: string, readonly updatedAt: string, readonly position: { readonly lng: number, readonly lat: number } } | null };

export type UpdateMutationVariables = Exact<{
  input: UpdateMarkerInput;
}>;


export type UpdateMutation = { readonly result: { readonly id: string, readonly key: string, readonly name: string | null, readonly category: string | null, readonly place: ReadonlyArray<string>, readonly properties: Readonly<Record<string, unknown>>, readonly version: number, readonly createdAt: string, readonly updatedAt: string, readonly position: { readonly lng: number, readonly lat: number } } };

export type DeleteMutationVariables = Exact<{
  ids: ReadonlyArray<string> | string;
}>;


export type DeleteMutation = { readonly result: { readonly deleted: number, readonly failures: ReadonlyArray<{ readonly index: number, readonly code: string, readonly message: string }> } };

export type ViewQueryVariables = Exact<{
  bounds: BoundsInput;
  zoom: number;
  collection: string;
  limit?: number | null | undefined;
}>;


export type ViewQuery = { readonly result: { readonly features: unknown } | null };
