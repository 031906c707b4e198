import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { MapCell } from '../map/cells/cells.js';
import type { MapCluster } from '../map/cells/clusters.js';
import type { Collection as CollectionModel } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import type { MarkerChange as LiveMarkerChange } from '../live/change.js';
import type { MarkerPage } from '../map/page.js';
import type { NearbyPage, NearbyEdge as NearbyMarkerEdge } from '../map/near/near.js';
import type { Viewport as MapViewport } from '../map/viewport.js';
import type { Zone as ZoneModel } from '../model/zone.js';
import type { ZonePage } from '../map/zones/zone-pages.js';
import type { ViewportContent as MapContent } from '../map/markers/content.js';
import type { RequestContext } from './context.js';
export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /**
   * An instant in RFC 3339 format with a `T` and an offset, for example `2026-11-21T09:30:00.000Z`. Input may have any
   * offset; output is always UTC with milliseconds.
   */
  DateTime: { input: string; output: string; }
  /**
   * A GeoJSON object: a geometry, Feature or FeatureCollection. Coordinates are longitude, latitude, in degrees. Geometries
   * that cross the antimeridian are cut in two there.
   */
  GeoJSON: { input: unknown; output: unknown; }
  /**
   * A cell of the geohash grid: 1 to 12 characters of `0123456789bcdefghjkmnpqrstuvwxyz`, each of which divides the previous
   * cell into 32. Input may be in upper case; output is always in lower case.
   */
  Geohash: { input: string; output: string; }
  /** Any JSON value: a string, number, boolean, null, array or object. Numbers are double-precision. */
  JSON: { input: unknown; output: unknown; }
  /** A JSON object, possibly empty. */
  JSONObject: { input: Readonly<Record<string, unknown>>; output: Readonly<Record<string, unknown>>; }
  /** Degrees north of the equator, -90 to 90; negative values are south. */
  Latitude: { input: number; output: number; }
  /** Degrees east of Greenwich, -180 to 180; negative values are west. -180 and 180 are the same meridian. */
  Longitude: { input: number; output: number; }
};

/** A bounding box in degrees. */
export type Bounds = {
  readonly __typename?: 'Bounds';
  /** Eastern edge in degrees east, -180 to 180. */
  readonly east: Scalars['Float']['output'];
  /** Northern edge in degrees north, -90 to 90. */
  readonly north: Scalars['Float']['output'];
  /** Southern edge in degrees north, -90 to 90. */
  readonly south: Scalars['Float']['output'];
  /** Western edge in degrees east, -180 to 180; greater than `east` if the box crosses the antimeridian. */
  readonly west: Scalars['Float']['output'];
};

/**
 * A bounding box as map libraries report it. All four edges are included, so a box without width or height matches markers
 * that lie exactly on it.
 */
export type BoundsInput = {
  /** Eastern edge in degrees east. 360 degrees or more beyond `west` covers all longitudes. */
  readonly east: Scalars['Float']['input'];
  /** Northern edge in degrees north, at least `south`. Values beyond the poles are clamped to -90..90. */
  readonly north: Scalars['Float']['input'];
  /** Southern edge in degrees north, at most `north`. Values beyond the poles are clamped to -90..90. */
  readonly south: Scalars['Float']['input'];
  /**
   * Western edge in degrees east. Any finite number: a map panned around the globe may send 190 or -540. If it is greater
   * than `east` after both are wrapped to -180..180, the box crosses the antimeridian.
   */
  readonly west: Scalars['Float']['input'];
};

/**
 * A cell of the geohash grid and the markers in it. Cells of the same precision never overlap: a position on the line
 * between two cells belongs to the western or southern one.
 */
export type Cell = {
  readonly __typename?: 'Cell';
  /** Edges of the cell, in degrees. */
  readonly bounds: Bounds;
  /** Center of `bounds`. */
  readonly center: Point;
  /** Mean position of the cell's markers, rounded to a millionth of a degree; `center` if the cell is empty. */
  readonly centroid: Point;
  /** The non-empty cells among the 32 inside this one; an empty list for cells of 12 characters. */
  readonly children: ReadonlyArray<Cell>;
  /** Number of markers in the whole cell, even if a viewport shows only part of it. */
  readonly count: Scalars['Int']['output'];
  /** Geohash of the cell. */
  readonly geohash: Scalars['Geohash']['output'];
  /** Markers in the cell, in geohash order. */
  readonly markers: MarkerConnection;
  /** The enclosing cell, one character shorter; null for cells of one character. */
  readonly parent?: Maybe<Cell>;
  /** Geohash precision: the number of characters in `geohash`, 1 to 12. */
  readonly precision: Scalars['Int']['output'];
};


/**
 * A cell of the geohash grid and the markers in it. Cells of the same precision never overlap: a position on the line
 * between two cells belongs to the western or southern one.
 */
export type CellMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

/** Kinds of change to a marker. */
export type ChangeKind =
  /** Created. */
  | 'CREATED'
  /** Deleted. */
  | 'DELETED'
  /** Moved into the bounds. */
  | 'ENTERED'
  /** Moved out of the bounds; `marker` has the new position. */
  | 'LEFT'
  /** Moved; inside the bounds both before and after, if the subscription has any. */
  | 'MOVED'
  /** Updated without moving. */
  | 'UPDATED';

/** Markers so close together at one zoom that a map draws them as one. */
export type Cluster = {
  readonly __typename?: 'Cluster';
  /** A rectangle that contains all markers of the cluster, in degrees: the bounds of its cells. */
  readonly bounds: Bounds;
  /** Number of markers in the cluster, 1 or more. */
  readonly count: Scalars['Int']['output'];
  /**
   * The lowest whole zoom, as MapLibre counts it, at which the cluster splits; 30, the maximum zoom, if it never does
   * because all its markers share one position.
   */
  readonly expansionZoom: Scalars['Float']['output'];
  /** The marker if `count` is 1, otherwise null. */
  readonly marker?: Maybe<Marker>;
  /** Mean position of the cluster's markers. */
  readonly position: Point;
};

/** A named set of markers and zones that is drawn, counted and paged together. */
export type Collection = Node & {
  readonly __typename?: 'Collection';
  /**
   * Bounds in which to open a map: the smallest box around the non-empty cells of four characters (39 by 20 km at the
   * equator). It crosses the antimeridian if that makes it less than half the globe wide. Null if the collection is empty.
   */
  readonly bounds?: Maybe<Bounds>;
  /** Two-character code of the collection in compact keys; null if it has none. */
  readonly code?: Maybe<Scalars['String']['output']>;
  /** Number of markers. Follows the table's stream, usually within a second of the last write. */
  readonly count: Scalars['Int']['output'];
  /**
   * Whether counts match the markers once the stream has been read. False after a gap in the stream, until a recount
   * corrects them.
   */
  readonly countsExact: Scalars['Boolean']['output'];
  /** Time of creation. */
  readonly createdAt: Scalars['DateTime']['output'];
  /** Description in a sentence or two; null if it has none. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /**
   * Whether each marker gets a `globalId`, by which it can be found without knowing its collection. Costs one extra index
   * write when a marker is created and when it is deleted.
   */
  readonly globalIds: Scalars['Boolean']['output'];
  /** `collection::` followed by the key. */
  readonly id: Scalars['ID']['output'];
  /** How new markers and zones get their keys; never changes. */
  readonly idStrategy: IdStrategy;
  /** Markers inside a polygon, including those on its edges and on the edges of its holes, in geohash order. */
  readonly inside: MarkerConnection;
  /** Key of the collection in IDs, in queries and on the command line; never changes. */
  readonly key: Scalars['String']['output'];
  /**
   * Names of the marker properties that a map draws. They are copied to the geographic index, so that a viewport returns
   * them without reading the markers themselves. Small markers have all their properties copied.
   */
  readonly mapProperties: ReadonlyArray<Scalars['String']['output']>;
  /** Looks up a marker by key; null if not found. */
  readonly marker?: Maybe<Marker>;
  /** All markers, in geohash order. */
  readonly markers: MarkerConnection;
  /**
   * Markers at a path of the place hierarchy and anywhere below it, in the order of their paths and keys. Names are
   * compared as a whole (`1` does not match `12`), after Unicode NFC normalization.
   */
  readonly markersIn: MarkerConnection;
  /** Display name. */
  readonly name: Scalars['String']['output'];
  /**
   * The `count` nearest markers, or all if there are fewer, nearest first. Fails with LIMIT_EXCEEDED if it would exceed
   * its read budget; never returns a wrong neighbour.
   */
  readonly nearest: ReadonlyArray<NearbyEdge>;
  /**
   * The next level of the place hierarchy below a path, in byte order of the names, each with the number of markers at it
   * and below it. Names without markers are omitted. Counts follow the table's stream, as `count` does. More than 5,000
   * names (the server's default maximum) fail with LIMIT_EXCEEDED.
   */
  readonly places: ReadonlyArray<PlaceCount>;
  /**
   * Number of geohash characters in the partition key of markers, 0 to 6. More characters spread writes over more
   * partitions but make a viewport take more Query calls.
   */
  readonly prefixLength: Scalars['Int']['output'];
  /** Whether a marker's readings are split into partitions by time. */
  readonly readingsBucket: ReadingsBucket;
  /**
   * Days until a reading expires, counted from the time of measurement; DynamoDB deletes it some time later. Null if
   * readings never expire.
   */
  readonly readingsTtlDays?: Maybe<Scalars['Int']['output']>;
  /** Time of the last update to the collection itself. */
  readonly updatedAt: Scalars['DateTime']['output'];
  /** 1 at creation, raised by 1 with each update of the collection; changes to markers do not raise it. */
  readonly version: Scalars['Int']['output'];
  /**
   * Markers within a radius, nearest first, ties in key order. Exact even across the poles and the antimeridian; a marker
   * at exactly `radius` is included. A page also ends when its read budget is used up (about 16 Query calls for a radius
   * of up to 50 km), so it may hold fewer than `first` markers, or none, and still have a next page.
   */
  readonly within: NearbyConnection;
  /**
   * Number of partitions over which each geohash prefix is spread; 1 for collections without hot spots. A viewport reads
   * all of them.
   */
  readonly writeShards: Scalars['Int']['output'];
  /** Looks up a zone by key; null if not found. */
  readonly zone?: Maybe<Zone>;
  /** All zones, in key order. */
  readonly zones: ZoneConnection;
  /**
   * Zones that contain a position, edges included, in key order. Takes three Query calls, however many zones there are
   * elsewhere. A line contains only the positions exactly on it. Fails with UNAVAILABLE if the geometry of a candidate
   * zone cannot be read, because an answer without that zone could be wrong.
   */
  readonly zonesAt: ReadonlyArray<Zone>;
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionInsideArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  polygon: Scalars['GeoJSON']['input'];
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionMarkerArgs = {
  key: Scalars['String']['input'];
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionMarkersInArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  place: ReadonlyArray<Scalars['String']['input']>;
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionNearestArgs = {
  center: PointInput;
  count?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  maxRadius?: InputMaybe<Scalars['Float']['input']>;
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionPlacesArgs = {
  under?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionWithinArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  center: PointInput;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  radius: Scalars['Float']['input'];
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionZoneArgs = {
  key: Scalars['String']['input'];
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionZonesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/** A named set of markers and zones that is drawn, counted and paged together. */
export type CollectionZonesAtArgs = {
  point: PointInput;
};

/** A page of collections. */
export type CollectionConnection = {
  readonly __typename?: 'CollectionConnection';
  /** The collections with their cursors. */
  readonly edges: ReadonlyArray<CollectionEdge>;
  /** The collections alone. */
  readonly nodes: ReadonlyArray<Collection>;
  /** Cursors of the page, and whether there are more pages. */
  readonly pageInfo: PageInfo;
};

/** A collection and its cursor. */
export type CollectionEdge = {
  readonly __typename?: 'CollectionEdge';
  /** Pass as `after` to get the collections that follow. */
  readonly cursor: Scalars['String']['output'];
  /** The collection. */
  readonly node: Collection;
};

/** Ways to return the content of a viewport. */
export type ContentMode =
  /** Clusters, because there are more markers than the limit. */
  | 'CLUSTERS'
  /** One entry per marker. */
  | 'MARKERS';

/** A new collection. */
export type CreateCollectionInput = {
  /** Two letters or digits, unique among collections; required if the table uses compact keys. */
  readonly code?: InputMaybe<Scalars['String']['input']>;
  /** Description in a sentence or two. */
  readonly description?: InputMaybe<Scalars['String']['input']>;
  /** Whether each marker gets a `globalId`. */
  readonly globalIds?: InputMaybe<Scalars['Boolean']['input']>;
  /** How new markers and zones get their keys. */
  readonly idStrategy?: InputMaybe<IdStrategy>;
  /** 1 to 63 characters of `a-z`, `0-9`, `_` and `-`, starting with a letter or digit. It can never be changed. */
  readonly key: Scalars['String']['input'];
  /** Up to 64 names of marker properties that a map draws. Default: none. */
  readonly mapProperties?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** Display name, not empty. */
  readonly name: Scalars['String']['input'];
  /** Number of geohash characters in the partition key of markers, 0 to 6. Default: 2. */
  readonly prefixLength?: InputMaybe<Scalars['Int']['input']>;
  /** For markers with very frequent readings. DAY requires `readingsTtlDays` of at most 62, HOUR of at most 2. */
  readonly readingsBucket?: InputMaybe<ReadingsBucket>;
  /** Days until a reading expires, 1 to 36,500. Default: readings never expire. */
  readonly readingsTtlDays?: InputMaybe<Scalars['Int']['input']>;
  /** Number of partitions over which each geohash prefix is spread, 1 to 32. Default: 1. */
  readonly writeShards?: InputMaybe<Scalars['Int']['input']>;
};

/** A new marker and its collection. */
export type CreateMarkerInput = {
  /** Kind of place. */
  readonly category?: InputMaybe<Scalars['String']['input']>;
  /** Key of an existing collection. */
  readonly collection: Scalars['String']['input'];
  /**
   * Key of the marker within the collection, 1 to 1,012 bytes of UTF-8. Required if the collection's `idStrategy` is
   * GIVEN; otherwise it must be omitted.
   */
  readonly key?: InputMaybe<Scalars['String']['input']>;
  /** Display name. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /**
   * Path in the place hierarchy, outermost first: up to 12 names of 1 to 200 bytes of UTF-8. Names are compared after
   * Unicode NFC normalization.
   */
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** Position of the marker. */
  readonly position: PointInput;
  /** Properties. The whole marker takes at most 400 KB in DynamoDB. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** Outcome of a batch of new markers. Each marker is stored or rejected on its own. */
export type CreateMarkersResult = {
  readonly __typename?: 'CreateMarkersResult';
  /** Markers that were rejected, with the reasons. */
  readonly failures: ReadonlyArray<MarkerFailure>;
  /** Markers that were stored, in input order. */
  readonly markers: ReadonlyArray<Marker>;
};

/** A new zone and its collection. */
export type CreateZoneInput = {
  /** Key of an existing collection. */
  readonly collection: Scalars['String']['input'];
  /**
   * A Polygon, MultiPolygon, LineString or MultiLineString, or a Feature with one, of up to 500,000 positions; only
   * longitude and latitude are stored. Edges are straight lines in longitude and latitude. Rings must be closed. An edge
   * between positions more than 180 degrees apart crosses the antimeridian.
   */
  readonly geometry: Scalars['GeoJSON']['input'];
  /**
   * Key of the zone within the collection, 1 to 1,012 bytes of UTF-8. Required if the collection's `idStrategy` is GIVEN;
   * otherwise it must be omitted.
   */
  readonly key?: InputMaybe<Scalars['String']['input']>;
  /** Display name. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /** Properties. The whole zone, without a geometry kept in the object store, takes at most 400 KB. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** How the markers and zones of a collection get their keys. */
export type IdStrategy =
  /** The client chooses the key. */
  | 'GIVEN'
  /** Consecutive numbers: 1, 2, 3, … Numbers are never reused; a failed creation leaves a gap. */
  | 'SEQUENCE'
  /** Version 7 UUIDs, which sort by time of creation. */
  | 'UUID';

/** A range of sort keys in one partition of an index, both ends included. */
export type KeyRange = {
  readonly __typename?: 'KeyRange';
  /** Bounding box of the cells that the range covers, in degrees. */
  readonly bounds: Bounds;
  /** First sort key. */
  readonly from: Scalars['String']['output'];
  /** Name of the DynamoDB index. */
  readonly index: Scalars['String']['output'];
  /** Partition key value. */
  readonly pk: Scalars['String']['output'];
  /** Last sort key. */
  readonly to: Scalars['String']['output'];
};

/** A point on the map with a name, a category and properties. */
export type Marker = Node & {
  readonly __typename?: 'Marker';
  /** Kind of place, for filters and symbols; null if it has none. */
  readonly category?: Maybe<Scalars['String']['output']>;
  /** The cell of a given precision that contains the marker. */
  readonly cell: Cell;
  /** The collection that the marker belongs to. */
  readonly collection: Collection;
  /** Time of creation. In a viewport, requires a batched read of the markers themselves. */
  readonly createdAt: Scalars['DateTime']['output'];
  /**
   * The cell of ten characters (about a metre wide) that contains the marker. A marker at longitude 180 is in the cell at
   * -180.
   */
  readonly geohash: Scalars['Geohash']['output'];
  /** The marker as a GeoJSON Feature with a Point geometry and its ID; `properties` include `key`, `name` and `category`. */
  readonly geojson: Scalars['GeoJSON']['output'];
  /**
   * UUID of the marker, unique across collections; pass it to `Query.markerByGlobalId`. Null if the collection does not
   * assign global IDs. In a viewport, requires a batched read of the markers themselves.
   */
  readonly globalId?: Maybe<Scalars['ID']['output']>;
  /** `marker::`, the collection's key, `::` and the marker's key. */
  readonly id: Scalars['ID']['output'];
  /** Key within the collection; never changes. */
  readonly key: Scalars['String']['output'];
  /** Display name; null if it has none. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /**
   * Path in the place hierarchy, outermost first, for example `["Poznań", "A", "2", "13"]`; empty if the marker has none.
   * In a viewport, requires a batched read of the markers themselves.
   */
  readonly place: ReadonlyArray<Scalars['String']['output']>;
  /** Position, exactly as given. */
  readonly position: Point;
  /** All properties. If the map index holds only some of them, the rest are read now, in one batch for all markers. */
  readonly properties: Scalars['JSONObject']['output'];
  /**
   * Readings of the marker, newest first, except those that have expired. For a single marker, one Query call reads the
   * marker with its latest readings.
   */
  readonly readings: ReadonlyArray<Reading>;
  /** Time of the last update. In a viewport, requires a batched read of the markers themselves. */
  readonly updatedAt: Scalars['DateTime']['output'];
  /** 1 at creation, raised by 1 with each update. In a viewport, requires a batched read of the markers themselves. */
  readonly version: Scalars['Int']['output'];
};


/** A point on the map with a name, a category and properties. */
export type MarkerCellArgs = {
  precision: Scalars['Int']['input'];
};


/** A point on the map with a name, a category and properties. */
export type MarkerReadingsArgs = {
  from?: InputMaybe<Scalars['DateTime']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  to?: InputMaybe<Scalars['DateTime']['input']>;
};

/** One change to one marker. */
export type MarkerChange = {
  readonly __typename?: 'MarkerChange';
  /** Time of the write by DynamoDB's clock, truncated to the second (to the minute on DynamoDB Local). */
  readonly at: Scalars['DateTime']['output'];
  /** ID of the marker. */
  readonly id: Scalars['ID']['output'];
  /** Kind of change; relative to the bounds if the subscription has any. */
  readonly kind: ChangeKind;
  /** The marker as this change left it; null if it was deleted. It may have changed again since. */
  readonly marker?: Maybe<Marker>;
  /** Position before the change; null if the marker did not exist. */
  readonly previous?: Maybe<Point>;
};

/** A page of markers. */
export type MarkerConnection = {
  readonly __typename?: 'MarkerConnection';
  /** The markers with their cursors. */
  readonly edges: ReadonlyArray<MarkerEdge>;
  /** The markers alone. */
  readonly nodes: ReadonlyArray<Marker>;
  /** Cursors of the page, and whether there are more pages. */
  readonly pageInfo: PageInfo;
};

/** A marker and its cursor. */
export type MarkerEdge = {
  readonly __typename?: 'MarkerEdge';
  /** Pass as `after` to get the markers that follow. */
  readonly cursor: Scalars['String']['output'];
  /** The marker. */
  readonly node: Marker;
};

/** A marker of a batch that was rejected. */
export type MarkerFailure = {
  readonly __typename?: 'MarkerFailure';
  /** Error code, as in an error's `extensions.code`; for example `CONFLICT` if the key is taken. */
  readonly code: Scalars['String']['output'];
  /** Index of the marker in the batch, from 0. */
  readonly index: Scalars['Int']['output'];
  /** Description of the error. */
  readonly message: Scalars['String']['output'];
};

/**
 * Conditions on markers, all of which must match. Fields that the geographic index does not hold (`updatedAfter`, and
 * properties not in `mapProperties`) require reading the markers themselves; a filter that would exceed the read budget
 * fails with LIMIT_EXCEEDED.
 */
export type MarkerFilter = {
  /** Category is one of these, compared case-sensitively. */
  readonly category?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** All of these comparisons match. */
  readonly properties?: InputMaybe<ReadonlyArray<PropertyFilter>>;
  /** Updated after this time. */
  readonly updatedAfter?: InputMaybe<Scalars['DateTime']['input']>;
};

/** A new marker for a batch, which names the collection. */
export type MarkerInput = {
  /** Kind of place. */
  readonly category?: InputMaybe<Scalars['String']['input']>;
  /**
   * Key of the marker within the collection, 1 to 1,012 bytes of UTF-8. Required if the collection's `idStrategy` is
   * GIVEN; otherwise it must be omitted.
   */
  readonly key?: InputMaybe<Scalars['String']['input']>;
  /** Display name. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /**
   * Path in the place hierarchy, outermost first: up to 12 names of 1 to 200 bytes of UTF-8. Names are compared after
   * Unicode NFC normalization.
   */
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** Position of the marker. */
  readonly position: PointInput;
  /** Properties. The whole marker takes at most 400 KB in DynamoDB. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type Mutation = {
  readonly __typename?: 'Mutation';
  /** Creates an empty collection. Fails with CONFLICT if the key or code is taken. */
  readonly createCollection: Collection;
  /** Creates a marker with one conditional write. Fails with CONFLICT if the key is taken. */
  readonly createMarker: Marker;
  /** Creates up to 500 markers in one collection. One that is rejected does not affect the others. */
  readonly createMarkers: CreateMarkersResult;
  /**
   * Creates a zone and its index entries atomically. Fails with CONFLICT if the key is taken, and with LIMIT_EXCEEDED if
   * the geometry is too large for DynamoDB and the server has no object store.
   */
  readonly createZone: Zone;
  /**
   * Deletes a collection and everything in it; returns the collection as it was. It disappears at once (other servers may
   * show it for two more seconds) and is emptied in the background. Until that is done, which takes at least a minute, its
   * key and code remain taken and fail with CONFLICT.
   */
  readonly deleteCollection: Collection;
  /**
   * Deletes a marker with one conditional write, and its readings; returns the marker as it was. A marker created later
   * under the same key does not inherit the readings.
   */
  readonly deleteMarker: Marker;
  /**
   * Deletes a zone and its index entries; returns the zone as it was, except for a geometry kept in the object store,
   * which is gone.
   */
  readonly deleteZone: Zone;
  /**
   * Records readings of a marker; returns the number of instants stored. A reading replaces any other of the same instant,
   * so it is safe to repeat the call: do so after THROTTLED or UNAVAILABLE. Readings that have already expired are
   * skipped. Fails with NOT_FOUND if there is no such marker.
   */
  readonly recordReadings: Scalars['Int']['output'];
  /**
   * Updates a collection's name or description with one conditional write. Fails with NOT_FOUND if there is no such
   * collection, and with CONFLICT, with the current `version` in the error's extensions, if `expectedVersion` does not
   * match.
   */
  readonly updateCollection: Collection;
  /**
   * Updates a marker with one conditional write, whatever indexes it is in. Fails with NOT_FOUND if there is no such
   * marker, and with CONFLICT, with the current `version` in the error's extensions, if `expectedVersion` does not match.
   */
  readonly updateMarker: Marker;
  /**
   * Updates a zone, and its index entries if the geometry changes, atomically. Fails with NOT_FOUND if there is no such
   * zone, and with CONFLICT, with the current `version` in the error's extensions, if `expectedVersion` does not match.
   */
  readonly updateZone: Zone;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationCreateCollectionArgs = {
  input: CreateCollectionInput;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationCreateMarkerArgs = {
  input: CreateMarkerInput;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationCreateMarkersArgs = {
  collection: Scalars['String']['input'];
  markers: ReadonlyArray<MarkerInput>;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationCreateZoneArgs = {
  input: CreateZoneInput;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationDeleteCollectionArgs = {
  key: Scalars['String']['input'];
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationDeleteMarkerArgs = {
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  id: Scalars['ID']['input'];
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationDeleteZoneArgs = {
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  id: Scalars['ID']['input'];
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationRecordReadingsArgs = {
  marker: Scalars['ID']['input'];
  readings: ReadonlyArray<ReadingInput>;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationUpdateCollectionArgs = {
  input: UpdateCollectionInput;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationUpdateMarkerArgs = {
  input: UpdateMarkerInput;
};


/** All writes. The mutations of one request run one after the other, as the GraphQL specification requires. */
export type MutationUpdateZoneArgs = {
  input: UpdateZoneInput;
};

/** A page of markers ordered by distance. */
export type NearbyConnection = {
  readonly __typename?: 'NearbyConnection';
  /** The markers with their distances and cursors. */
  readonly edges: ReadonlyArray<NearbyEdge>;
  /** The markers alone. */
  readonly nodes: ReadonlyArray<Marker>;
  /** Cursors of the page, and whether there are more pages. */
  readonly pageInfo: PageInfo;
};

/** A marker and its distance. */
export type NearbyEdge = {
  readonly __typename?: 'NearbyEdge';
  /** Pass to `within` as `after` to get the markers that follow. */
  readonly cursor: Scalars['String']['output'];
  /** Great-circle distance from the center, in metres, on a sphere with a radius of 6,371,008.8 m. */
  readonly distance: Scalars['Float']['output'];
  /** The marker. */
  readonly node: Marker;
};

/** An object with a global ID. */
export type Node = {
  /** Unique among all objects and stable; use it as a client cache key and with `Query.node`. */
  readonly id: Scalars['ID']['output'];
};

/** Position of a page in its list. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** Pass as `after` to get the next page. Null if there is no position to continue from. */
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  /** Whether there may be a next page. Also true for a page that used up its read budget, even an empty one. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** Whether the page was requested with `after`, so that entries may precede it. */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** Cursor of the first entry; null on an empty page. */
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

/** A name in the place hierarchy of a collection's markers. */
export type PlaceCount = {
  readonly __typename?: 'PlaceCount';
  /** Number of markers at this path and below it. Follows the table's stream. */
  readonly count: Scalars['Int']['output'];
  /** Last name of the path, in Unicode NFC. */
  readonly name: Scalars['String']['output'];
  /** Full path, outermost first. Pass to `places` for the level below, or to `markersIn` for the markers. */
  readonly place: ReadonlyArray<Scalars['String']['output']>;
};

/** A position on the globe. */
export type Point = {
  readonly __typename?: 'Point';
  /** Latitude in degrees north, -90 to 90. */
  readonly lat: Scalars['Float']['output'];
  /** Longitude in degrees east, -180 to 180, exactly as given: 180 does not become -180. */
  readonly lng: Scalars['Float']['output'];
};

/** A position on the globe. */
export type PointInput = {
  /** Latitude in degrees north, -90 to 90. */
  readonly lat: Scalars['Latitude']['input'];
  /** Longitude in degrees east, -180 to 180. */
  readonly lng: Scalars['Longitude']['input'];
};

/**
 * A comparison of one property with exactly one operator. Markers without the property match only `ne` and `exists:
 * false`.
 */
export type PropertyFilter = {
  /** A string that contains this substring, or a list that contains this string; case-sensitive. */
  readonly contains?: InputMaybe<Scalars['String']['input']>;
  /** Equal to this JSON value. */
  readonly eq?: InputMaybe<Scalars['JSON']['input']>;
  /** Whether the property is present, even if its value is null. */
  readonly exists?: InputMaybe<Scalars['Boolean']['input']>;
  /** Greater than this number or string; strings are compared by code units. Values of another type do not match. */
  readonly gt?: InputMaybe<Scalars['JSON']['input']>;
  /** Greater than or equal to this number or string. */
  readonly gte?: InputMaybe<Scalars['JSON']['input']>;
  /** Equal to one of these JSON values. */
  readonly in?: InputMaybe<ReadonlyArray<Scalars['JSON']['input']>>;
  /** Less than this number or string. */
  readonly lt?: InputMaybe<Scalars['JSON']['input']>;
  /** Less than or equal to this number or string. */
  readonly lte?: InputMaybe<Scalars['JSON']['input']>;
  /** Name of the property. */
  readonly name: Scalars['String']['input'];
  /** Not equal to this JSON value, or missing. */
  readonly ne?: InputMaybe<Scalars['JSON']['input']>;
};

/** All reads. */
export type Query = {
  readonly __typename?: 'Query';
  /** A cell of a collection; its `count` is 0 if it is empty. Fails with NOT_FOUND if there is no such collection. */
  readonly cell?: Maybe<Cell>;
  /** Looks up a collection by key; null if not found. */
  readonly collection?: Maybe<Collection>;
  /** All collections, in key order. */
  readonly collections: CollectionConnection;
  /** Looks up a marker by ID; null if not found. Reflects the latest write. */
  readonly marker?: Maybe<Marker>;
  /** Looks up a marker by global ID; null if not found. Eventually consistent: a new marker may take a moment to appear. */
  readonly markerByGlobalId?: Maybe<Marker>;
  /** Looks up any object by ID; null if not found. */
  readonly node?: Maybe<Node>;
  /** Looks up several objects by ID in one batched read. Results are in the order of `ids`, null for those not found. */
  readonly nodes: ReadonlyArray<Maybe<Node>>;
  /** What a map shows. The viewport itself reads nothing: each of its fields makes its own reads. */
  readonly viewport?: Maybe<Viewport>;
};


/** All reads. */
export type QueryCellArgs = {
  collection: Scalars['String']['input'];
  geohash: Scalars['Geohash']['input'];
};


/** All reads. */
export type QueryCollectionArgs = {
  key: Scalars['String']['input'];
};


/** All reads. */
export type QueryCollectionsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/** All reads. */
export type QueryMarkerArgs = {
  id: Scalars['ID']['input'];
};


/** All reads. */
export type QueryMarkerByGlobalIdArgs = {
  globalId: Scalars['ID']['input'];
};


/** All reads. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/** All reads. */
export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};


/** All reads. */
export type QueryViewportArgs = {
  bounds: BoundsInput;
  zoom: Scalars['Float']['input'];
};

/** Values measured for a marker at one instant. Recording readings does not change the marker's `version`. */
export type Reading = {
  readonly __typename?: 'Reading';
  /** Time of measurement, in UTC with milliseconds. A marker has at most one reading per instant. */
  readonly at: Scalars['DateTime']['output'];
  /** Measured numbers and strings by name, in the units of the recorder. */
  readonly values: Scalars['JSONObject']['output'];
};

/** A reading to record. */
export type ReadingInput = {
  /**
   * Time of measurement, truncated to milliseconds. If omitted, the server's current time; only one reading per call may
   * omit it.
   */
  readonly at?: InputMaybe<Scalars['DateTime']['input']>;
  /**
   * Measured numbers and strings by name: no nested values, less than 400 KB in total. Integers of more than 53 bits are
   * rejected, because JSON would round them; send them as strings.
   */
  readonly values: Scalars['JSONObject']['input'];
};

/** How a marker's readings are stored. */
export type ReadingsBucket =
  /** One partition per UTC day; partitions are searched one by one for the latest readings. */
  | 'DAY'
  /** One partition per UTC hour; partitions are searched one by one for the latest readings. */
  | 'HOUR'
  /** In the marker's own partition, so that one Query returns the marker with its latest readings. */
  | 'NONE';

/**
 * Changes read from the stream of the markers' table, whoever made them: this API, an import, another program or the AWS
 * console. They usually arrive within half a second. Changes to one marker arrive in order. A change may be delivered more
 * than once but is never silently dropped: a subscription that misses one ends with an error, and so does one whose client
 * reads too slowly (LIMIT_EXCEEDED). Available over WebSocket at `/graphql` (graphql-ws) and as server-sent events at
 * `/graphql/stream`.
 */
export type Subscription = {
  readonly __typename?: 'Subscription';
  /**
   * Markers of a collection that are created, updated, moved or deleted; with `bounds`, those inside the bounds before or
   * after the change.
   */
  readonly markerChanged: MarkerChange;
  /** Readings of a marker as they are recorded, in that order. A reading recorded again for the same instant is sent again. */
  readonly readingRecorded: Reading;
};


/**
 * Changes read from the stream of the markers' table, whoever made them: this API, an import, another program or the AWS
 * console. They usually arrive within half a second. Changes to one marker arrive in order. A change may be delivered more
 * than once but is never silently dropped: a subscription that misses one ends with an error, and so does one whose client
 * reads too slowly (LIMIT_EXCEEDED). Available over WebSocket at `/graphql` (graphql-ws) and as server-sent events at
 * `/graphql/stream`.
 */
export type SubscriptionMarkerChangedArgs = {
  bounds?: InputMaybe<BoundsInput>;
  collection: Scalars['String']['input'];
  since?: InputMaybe<Scalars['DateTime']['input']>;
};


/**
 * Changes read from the stream of the markers' table, whoever made them: this API, an import, another program or the AWS
 * console. They usually arrive within half a second. Changes to one marker arrive in order. A change may be delivered more
 * than once but is never silently dropped: a subscription that misses one ends with an error, and so does one whose client
 * reads too slowly (LIMIT_EXCEEDED). Available over WebSocket at `/graphql` (graphql-ws) and as server-sent events at
 * `/graphql/stream`.
 */
export type SubscriptionReadingRecordedArgs = {
  marker: Scalars['ID']['input'];
  since?: InputMaybe<Scalars['DateTime']['input']>;
};

/** Changes to a collection. Omitted fields keep their values. */
export type UpdateCollectionInput = {
  /** Description in a sentence or two; null removes it. */
  readonly description?: InputMaybe<Scalars['String']['input']>;
  /** Fails with CONFLICT, changing nothing, unless this is the collection's current version. */
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  /** Key of the collection. */
  readonly key: Scalars['String']['input'];
  /** Display name, not empty. Must not be null. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
};

/** Changes to a marker. Omitted fields keep their values. */
export type UpdateMarkerInput = {
  /** Kind of place; null removes it. */
  readonly category?: InputMaybe<Scalars['String']['input']>;
  /** Fails with CONFLICT, changing nothing, unless this is the marker's current version. */
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  /** ID of the marker. */
  readonly id: Scalars['ID']['input'];
  /** Display name; null removes it. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /** Path in the place hierarchy, see `CreateMarkerInput.place`; null or an empty list removes it. */
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** New position: the marker moves. Must not be null. */
  readonly position?: InputMaybe<PointInput>;
  /** New properties, replacing all existing ones; null removes them. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** Changes to a zone. Omitted fields keep their values. */
export type UpdateZoneInput = {
  /** Fails with CONFLICT, changing nothing, unless this is the zone's current version. */
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  /** New geometry, as in `CreateZoneInput`. Must not be null. */
  readonly geometry?: InputMaybe<Scalars['GeoJSON']['input']>;
  /** ID of the zone. */
  readonly id: Scalars['ID']['input'];
  /** Display name; null removes it. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /** New properties, replacing all existing ones; null removes them. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type Viewport = {
  readonly __typename?: 'Viewport';
  /** Markers if there are at most `limit` inside the bounds, otherwise clusters. */
  readonly auto?: Maybe<ViewportContent>;
  /** The requested bounds in degrees, wrapped to -180..180 and clamped to -90..90. */
  readonly bounds: Bounds;
  /** Non-empty cells that touch the bounds, for a heatmap. A cell on the edge has the count of the whole cell. */
  readonly cells?: Maybe<ReadonlyArray<Cell>>;
  /**
   * Clusters of the markers inside the bounds and close to the edges. Panning does not change them: the same markers
   * always form the same clusters.
   */
  readonly clusters?: Maybe<ReadonlyArray<Cluster>>;
  /**
   * Number of markers inside the bounds, exact once the stream has been read. Whole cells contribute their counts; only
   * the cells on the edge are searched.
   */
  readonly count?: Maybe<Scalars['Int']['output']>;
  /**
   * A GeoJSON FeatureCollection ready to draw: one Point feature per marker if there are at most `limit`, otherwise one
   * per cluster, with the properties `cluster: true` and `count`.
   */
  readonly features?: Maybe<Scalars['GeoJSON']['output']>;
  /**
   * Markers inside the bounds, in geohash order. A page also ends when its read budget is used up, so it may hold fewer
   * than `first` markers and still have a next page.
   */
  readonly markers?: Maybe<MarkerConnection>;
  /** The key ranges that `markers` would read, without reading them. */
  readonly plan?: Maybe<ViewportPlan>;
  /** Geohash precision of the viewport's cells, in characters: a cell is 24 to 192 px wide at this zoom. */
  readonly precision: Scalars['Int']['output'];
  /**
   * Zones that intersect the bounds, in key order, each exactly once across all pages. A page also ends when its read
   * budget is used up, so it may hold fewer than `first` zones and still have a next page.
   */
  readonly zones?: Maybe<ZoneConnection>;
  /** The requested zoom: at 0 the world is 512 px wide, and each level doubles it. */
  readonly zoom: Scalars['Float']['output'];
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportAutoArgs = {
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportCellsArgs = {
  collection: Scalars['String']['input'];
  precision?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportClustersArgs = {
  collection: Scalars['String']['input'];
  radius?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportCountArgs = {
  collection: Scalars['String']['input'];
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportFeaturesArgs = {
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportPlanArgs = {
  collection: Scalars['String']['input'];
};


/**
 * What a map shows inside one bounding box at one zoom. Each field can fail on its own without affecting the others. Each
 * has a read budget, by default 64 Query calls and 20,000 items: a page ends when it is used up, and a field without pages
 * fails with LIMIT_EXCEEDED. Results are never silently truncated.
 */
export type ViewportZonesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection: Scalars['String']['input'];
  first?: InputMaybe<Scalars['Int']['input']>;
};

/** Markers or clusters, whichever fits the limit. */
export type ViewportContent = {
  readonly __typename?: 'ViewportContent';
  /** All clusters of the viewport; empty in mode MARKERS. */
  readonly clusters: ReadonlyArray<Cluster>;
  /** All markers inside the bounds, in geohash order; empty in mode CLUSTERS. */
  readonly markers: ReadonlyArray<Marker>;
  /** Which of the two lists is filled; the other is empty. */
  readonly mode: ContentMode;
  /** Geohash precision of the cells from which the clusters are formed, in characters. */
  readonly precision: Scalars['Int']['output'];
  /** Number of markers inside the bounds. */
  readonly total: Scalars['Int']['output'];
};

/** How a viewport's markers would be read. */
export type ViewportPlan = {
  readonly __typename?: 'ViewportPlan';
  /** Geohash precision of the viewport's cells, in characters. */
  readonly precision: Scalars['Int']['output'];
  /** One entry per Query call, in the order of execution, up to the read budget of one page. */
  readonly ranges: ReadonlyArray<KeyRange>;
};

/** An area or a line on the map, such as a country, a district or a river. */
export type Zone = Node & {
  readonly __typename?: 'Zone';
  /** Bounding box in degrees; west is greater than east if it crosses the antimeridian. */
  readonly bounds: Bounds;
  /** The collection that the zone belongs to. */
  readonly collection: Collection;
  /**
   * A Polygon, MultiPolygon, LineString or MultiLineString, cut in two where it crosses the antimeridian. Null, with the
   * error UNAVAILABLE on this field, if the geometry is in an object store and is missing or damaged there, or the store
   * does not respond. All geometries of one response together take at most 64 MB.
   */
  readonly geometry?: Maybe<Scalars['GeoJSON']['output']>;
  /** Where the full geometry is stored, in human-readable form; null if it is stored in DynamoDB with the zone. */
  readonly geometrySource?: Maybe<Scalars['String']['output']>;
  /** `zone::`, the collection's key, `::` and the zone's key. */
  readonly id: Scalars['ID']['output'];
  /** Key within the collection; never changes. */
  readonly key: Scalars['String']['output'];
  /**
   * Markers inside the zone, edges included, in geohash order. A line has no inside and therefore no markers. Fails with
   * UNAVAILABLE if the geometry cannot be read.
   */
  readonly markers: MarkerConnection;
  /** Display name; null if it has none. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** All properties. */
  readonly properties: Scalars['JSONObject']['output'];
  /** 1 at creation, raised by 1 with each update. */
  readonly version: Scalars['Int']['output'];
};


/** An area or a line on the map, such as a country, a district or a river. */
export type ZoneGeometryArgs = {
  maxVertices?: InputMaybe<Scalars['Int']['input']>;
};


/** An area or a line on the map, such as a country, a district or a river. */
export type ZoneMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of zones. */
export type ZoneConnection = {
  readonly __typename?: 'ZoneConnection';
  /** The zones with their cursors. */
  readonly edges: ReadonlyArray<ZoneEdge>;
  /** The zones alone. */
  readonly nodes: ReadonlyArray<Zone>;
  /** Cursors of the page, and whether there are more pages. */
  readonly pageInfo: PageInfo;
};

/** A zone and its cursor. */
export type ZoneEdge = {
  readonly __typename?: 'ZoneEdge';
  /** Pass as `after` to get the zones that follow. */
  readonly cursor: Scalars['String']['output'];
  /** The zone. */
  readonly node: Zone;
};



export type ResolverTypeWrapper<T> = Promise<T> | T;


export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;




/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = {
  Node:
    | ( CollectionModel )
    | ( MapMarker )
    | ( ZoneModel )
  ;
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Bounds: ResolverTypeWrapper<Bounds>;
  BoundsInput: BoundsInput;
  Cell: ResolverTypeWrapper<MapCell>;
  ChangeKind: ChangeKind;
  Cluster: ResolverTypeWrapper<MapCluster>;
  Collection: ResolverTypeWrapper<CollectionModel>;
  CollectionConnection: ResolverTypeWrapper<Omit<CollectionConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversTypes['CollectionEdge']>, nodes: ReadonlyArray<ResolversTypes['Collection']> }>;
  CollectionEdge: ResolverTypeWrapper<Omit<CollectionEdge, 'node'> & { node: ResolversTypes['Collection'] }>;
  ContentMode: ContentMode;
  CreateCollectionInput: CreateCollectionInput;
  CreateMarkerInput: CreateMarkerInput;
  CreateMarkersResult: ResolverTypeWrapper<Omit<CreateMarkersResult, 'markers'> & { markers: ReadonlyArray<ResolversTypes['Marker']> }>;
  CreateZoneInput: CreateZoneInput;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  GeoJSON: ResolverTypeWrapper<Scalars['GeoJSON']['output']>;
  Geohash: ResolverTypeWrapper<Scalars['Geohash']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  IdStrategy: IdStrategy;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  JSON: ResolverTypeWrapper<Scalars['JSON']['output']>;
  JSONObject: ResolverTypeWrapper<Scalars['JSONObject']['output']>;
  KeyRange: ResolverTypeWrapper<KeyRange>;
  Latitude: ResolverTypeWrapper<Scalars['Latitude']['output']>;
  Longitude: ResolverTypeWrapper<Scalars['Longitude']['output']>;
  Marker: ResolverTypeWrapper<MapMarker>;
  MarkerChange: ResolverTypeWrapper<LiveMarkerChange>;
  MarkerConnection: ResolverTypeWrapper<MarkerPage>;
  MarkerEdge: ResolverTypeWrapper<Omit<MarkerEdge, 'node'> & { node: ResolversTypes['Marker'] }>;
  MarkerFailure: ResolverTypeWrapper<MarkerFailure>;
  MarkerFilter: MarkerFilter;
  MarkerInput: MarkerInput;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  NearbyConnection: ResolverTypeWrapper<NearbyPage>;
  NearbyEdge: ResolverTypeWrapper<NearbyMarkerEdge>;
  Node: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['Node']>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  PlaceCount: ResolverTypeWrapper<PlaceCount>;
  Point: ResolverTypeWrapper<Point>;
  PointInput: PointInput;
  PropertyFilter: PropertyFilter;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Reading: ResolverTypeWrapper<Reading>;
  ReadingInput: ReadingInput;
  ReadingsBucket: ReadingsBucket;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Subscription: ResolverTypeWrapper<Record<PropertyKey, never>>;
  UpdateCollectionInput: UpdateCollectionInput;
  UpdateMarkerInput: UpdateMarkerInput;
  UpdateZoneInput: UpdateZoneInput;
  Viewport: ResolverTypeWrapper<MapViewport>;
  ViewportContent: ResolverTypeWrapper<MapContent>;
  ViewportPlan: ResolverTypeWrapper<ViewportPlan>;
  Zone: ResolverTypeWrapper<ZoneModel>;
  ZoneConnection: ResolverTypeWrapper<ZonePage>;
  ZoneEdge: ResolverTypeWrapper<Omit<ZoneEdge, 'node'> & { node: ResolversTypes['Zone'] }>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Boolean: Scalars['Boolean']['output'];
  Bounds: Bounds;
  BoundsInput: BoundsInput;
  Cell: MapCell;
  Cluster: MapCluster;
  Collection: CollectionModel;
  CollectionConnection: Omit<CollectionConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversParentTypes['CollectionEdge']>, nodes: ReadonlyArray<ResolversParentTypes['Collection']> };
  CollectionEdge: Omit<CollectionEdge, 'node'> & { node: ResolversParentTypes['Collection'] };
  CreateCollectionInput: CreateCollectionInput;
  CreateMarkerInput: CreateMarkerInput;
  CreateMarkersResult: Omit<CreateMarkersResult, 'markers'> & { markers: ReadonlyArray<ResolversParentTypes['Marker']> };
  CreateZoneInput: CreateZoneInput;
  DateTime: Scalars['DateTime']['output'];
  Float: Scalars['Float']['output'];
  GeoJSON: Scalars['GeoJSON']['output'];
  Geohash: Scalars['Geohash']['output'];
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  JSON: Scalars['JSON']['output'];
  JSONObject: Scalars['JSONObject']['output'];
  KeyRange: KeyRange;
  Latitude: Scalars['Latitude']['output'];
  Longitude: Scalars['Longitude']['output'];
  Marker: MapMarker;
  MarkerChange: LiveMarkerChange;
  MarkerConnection: MarkerPage;
  MarkerEdge: Omit<MarkerEdge, 'node'> & { node: ResolversParentTypes['Marker'] };
  MarkerFailure: MarkerFailure;
  MarkerFilter: MarkerFilter;
  MarkerInput: MarkerInput;
  Mutation: Record<PropertyKey, never>;
  NearbyConnection: NearbyPage;
  NearbyEdge: NearbyMarkerEdge;
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  PageInfo: PageInfo;
  PlaceCount: PlaceCount;
  Point: Point;
  PointInput: PointInput;
  PropertyFilter: PropertyFilter;
  Query: Record<PropertyKey, never>;
  Reading: Reading;
  ReadingInput: ReadingInput;
  String: Scalars['String']['output'];
  Subscription: Record<PropertyKey, never>;
  UpdateCollectionInput: UpdateCollectionInput;
  UpdateMarkerInput: UpdateMarkerInput;
  UpdateZoneInput: UpdateZoneInput;
  Viewport: MapViewport;
  ViewportContent: MapContent;
  ViewportPlan: ViewportPlan;
  Zone: ZoneModel;
  ZoneConnection: ZonePage;
  ZoneEdge: Omit<ZoneEdge, 'node'> & { node: ResolversParentTypes['Zone'] };
};

export type BoundsResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Bounds'] = ResolversParentTypes['Bounds']> = {
  east?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  north?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  south?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  west?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type CellResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Cell'] = ResolversParentTypes['Cell']> = {
  bounds?: Resolver<ResolversTypes['Bounds'], ParentType, ContextType>;
  center?: Resolver<ResolversTypes['Point'], ParentType, ContextType>;
  centroid?: Resolver<ResolversTypes['Point'], ParentType, ContextType>;
  children?: Resolver<ReadonlyArray<ResolversTypes['Cell']>, ParentType, ContextType>;
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  geohash?: Resolver<ResolversTypes['Geohash'], ParentType, ContextType>;
  markers?: Resolver<ResolversTypes['MarkerConnection'], ParentType, ContextType, RequireFields<CellMarkersArgs, 'first'>>;
  parent?: Resolver<Maybe<ResolversTypes['Cell']>, ParentType, ContextType>;
  precision?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ClusterResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Cluster'] = ResolversParentTypes['Cluster']> = {
  bounds?: Resolver<ResolversTypes['Bounds'], ParentType, ContextType>;
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  expansionZoom?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  marker?: Resolver<Maybe<ResolversTypes['Marker']>, ParentType, ContextType>;
  position?: Resolver<ResolversTypes['Point'], ParentType, ContextType>;
};

export type CollectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Collection'] = ResolversParentTypes['Collection']> = {
  bounds?: Resolver<Maybe<ResolversTypes['Bounds']>, ParentType, ContextType>;
  code?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  countsExact?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  description?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  globalIds?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  idStrategy?: Resolver<ResolversTypes['IdStrategy'], ParentType, ContextType>;
  inside?: Resolver<ResolversTypes['MarkerConnection'], ParentType, ContextType, RequireFields<CollectionInsideArgs, 'first' | 'polygon'>>;
  key?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  mapProperties?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  marker?: Resolver<Maybe<ResolversTypes['Marker']>, ParentType, ContextType, RequireFields<CollectionMarkerArgs, 'key'>>;
  markers?: Resolver<ResolversTypes['MarkerConnection'], ParentType, ContextType, RequireFields<CollectionMarkersArgs, 'first'>>;
  markersIn?: Resolver<ResolversTypes['MarkerConnection'], ParentType, ContextType, RequireFields<CollectionMarkersInArgs, 'first' | 'place'>>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  nearest?: Resolver<ReadonlyArray<ResolversTypes['NearbyEdge']>, ParentType, ContextType, RequireFields<CollectionNearestArgs, 'center' | 'count'>>;
  places?: Resolver<ReadonlyArray<ResolversTypes['PlaceCount']>, ParentType, ContextType, RequireFields<CollectionPlacesArgs, 'under'>>;
  prefixLength?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  readingsBucket?: Resolver<ResolversTypes['ReadingsBucket'], ParentType, ContextType>;
  readingsTtlDays?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  within?: Resolver<ResolversTypes['NearbyConnection'], ParentType, ContextType, RequireFields<CollectionWithinArgs, 'center' | 'first' | 'radius'>>;
  writeShards?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  zone?: Resolver<Maybe<ResolversTypes['Zone']>, ParentType, ContextType, RequireFields<CollectionZoneArgs, 'key'>>;
  zones?: Resolver<ResolversTypes['ZoneConnection'], ParentType, ContextType, RequireFields<CollectionZonesArgs, 'first'>>;
  zonesAt?: Resolver<ReadonlyArray<ResolversTypes['Zone']>, ParentType, ContextType, RequireFields<CollectionZonesAtArgs, 'point'>>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type CollectionConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['CollectionConnection'] = ResolversParentTypes['CollectionConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['CollectionEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Collection']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type CollectionEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['CollectionEdge'] = ResolversParentTypes['CollectionEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Collection'], ParentType, ContextType>;
};

export type CreateMarkersResultResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['CreateMarkersResult'] = ResolversParentTypes['CreateMarkersResult']> = {
  failures?: Resolver<ReadonlyArray<ResolversTypes['MarkerFailure']>, ParentType, ContextType>;
  markers?: Resolver<ReadonlyArray<ResolversTypes['Marker']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export interface GeoJsonScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['GeoJSON'], any> {
  name: 'GeoJSON';
}

export interface GeohashScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['Geohash'], any> {
  name: 'Geohash';
}

export interface JsonScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['JSON'], any> {
  name: 'JSON';
}

export interface JsonObjectScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['JSONObject'], any> {
  name: 'JSONObject';
}

export type KeyRangeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['KeyRange'] = ResolversParentTypes['KeyRange']> = {
  bounds?: Resolver<ResolversTypes['Bounds'], ParentType, ContextType>;
  from?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  index?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  pk?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  to?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export interface LatitudeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['Latitude'], any> {
  name: 'Latitude';
}

export interface LongitudeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['Longitude'], any> {
  name: 'Longitude';
}

export type MarkerResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Marker'] = ResolversParentTypes['Marker']> = {
  category?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  cell?: Resolver<ResolversTypes['Cell'], ParentType, ContextType, RequireFields<MarkerCellArgs, 'precision'>>;
  collection?: Resolver<ResolversTypes['Collection'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  geohash?: Resolver<ResolversTypes['Geohash'], ParentType, ContextType>;
  geojson?: Resolver<ResolversTypes['GeoJSON'], ParentType, ContextType>;
  globalId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  key?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  place?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  position?: Resolver<ResolversTypes['Point'], ParentType, ContextType>;
  properties?: Resolver<ResolversTypes['JSONObject'], ParentType, ContextType>;
  readings?: Resolver<ReadonlyArray<ResolversTypes['Reading']>, ParentType, ContextType, RequireFields<MarkerReadingsArgs, 'last'>>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type MarkerChangeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['MarkerChange'] = ResolversParentTypes['MarkerChange']> = {
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['ChangeKind'], ParentType, ContextType>;
  marker?: Resolver<Maybe<ResolversTypes['Marker']>, ParentType, ContextType>;
  previous?: Resolver<Maybe<ResolversTypes['Point']>, ParentType, ContextType>;
};

export type MarkerConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['MarkerConnection'] = ResolversParentTypes['MarkerConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['MarkerEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Marker']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type MarkerEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['MarkerEdge'] = ResolversParentTypes['MarkerEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Marker'], ParentType, ContextType>;
};

export type MarkerFailureResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['MarkerFailure'] = ResolversParentTypes['MarkerFailure']> = {
  code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  index?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  message?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type MutationResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createCollection?: Resolver<ResolversTypes['Collection'], ParentType, ContextType, RequireFields<MutationCreateCollectionArgs, 'input'>>;
  createMarker?: Resolver<ResolversTypes['Marker'], ParentType, ContextType, RequireFields<MutationCreateMarkerArgs, 'input'>>;
  createMarkers?: Resolver<ResolversTypes['CreateMarkersResult'], ParentType, ContextType, RequireFields<MutationCreateMarkersArgs, 'collection' | 'markers'>>;
  createZone?: Resolver<ResolversTypes['Zone'], ParentType, ContextType, RequireFields<MutationCreateZoneArgs, 'input'>>;
  deleteCollection?: Resolver<ResolversTypes['Collection'], ParentType, ContextType, RequireFields<MutationDeleteCollectionArgs, 'key'>>;
  deleteMarker?: Resolver<ResolversTypes['Marker'], ParentType, ContextType, RequireFields<MutationDeleteMarkerArgs, 'id'>>;
  deleteZone?: Resolver<ResolversTypes['Zone'], ParentType, ContextType, RequireFields<MutationDeleteZoneArgs, 'id'>>;
  recordReadings?: Resolver<ResolversTypes['Int'], ParentType, ContextType, RequireFields<MutationRecordReadingsArgs, 'marker' | 'readings'>>;
  updateCollection?: Resolver<ResolversTypes['Collection'], ParentType, ContextType, RequireFields<MutationUpdateCollectionArgs, 'input'>>;
  updateMarker?: Resolver<ResolversTypes['Marker'], ParentType, ContextType, RequireFields<MutationUpdateMarkerArgs, 'input'>>;
  updateZone?: Resolver<ResolversTypes['Zone'], ParentType, ContextType, RequireFields<MutationUpdateZoneArgs, 'input'>>;
};

export type NearbyConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['NearbyConnection'] = ResolversParentTypes['NearbyConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['NearbyEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Marker']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type NearbyEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['NearbyEdge'] = ResolversParentTypes['NearbyEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  distance?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Marker'], ParentType, ContextType>;
};

export type NodeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node']> = {
  __resolveType: TypeResolveFn<'Collection' | 'Marker' | 'Zone', ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PlaceCountResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PlaceCount'] = ResolversParentTypes['PlaceCount']> = {
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  place?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PointResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Point'] = ResolversParentTypes['Point']> = {
  lat?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  lng?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  cell?: Resolver<Maybe<ResolversTypes['Cell']>, ParentType, ContextType, RequireFields<QueryCellArgs, 'collection' | 'geohash'>>;
  collection?: Resolver<Maybe<ResolversTypes['Collection']>, ParentType, ContextType, RequireFields<QueryCollectionArgs, 'key'>>;
  collections?: Resolver<ResolversTypes['CollectionConnection'], ParentType, ContextType, RequireFields<QueryCollectionsArgs, 'first'>>;
  marker?: Resolver<Maybe<ResolversTypes['Marker']>, ParentType, ContextType, RequireFields<QueryMarkerArgs, 'id'>>;
  markerByGlobalId?: Resolver<Maybe<ResolversTypes['Marker']>, ParentType, ContextType, RequireFields<QueryMarkerByGlobalIdArgs, 'globalId'>>;
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  nodes?: Resolver<ReadonlyArray<Maybe<ResolversTypes['Node']>>, ParentType, ContextType, RequireFields<QueryNodesArgs, 'ids'>>;
  viewport?: Resolver<Maybe<ResolversTypes['Viewport']>, ParentType, ContextType, RequireFields<QueryViewportArgs, 'bounds' | 'zoom'>>;
};

export type ReadingResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Reading'] = ResolversParentTypes['Reading']> = {
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  values?: Resolver<ResolversTypes['JSONObject'], ParentType, ContextType>;
};

export type SubscriptionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Subscription'] = ResolversParentTypes['Subscription']> = {
  markerChanged?: SubscriptionResolver<ResolversTypes['MarkerChange'], "markerChanged", ParentType, ContextType, RequireFields<SubscriptionMarkerChangedArgs, 'collection'>>;
  readingRecorded?: SubscriptionResolver<ResolversTypes['Reading'], "readingRecorded", ParentType, ContextType, RequireFields<SubscriptionReadingRecordedArgs, 'marker'>>;
};

export type ViewportResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Viewport'] = ResolversParentTypes['Viewport']> = {
  auto?: Resolver<Maybe<ResolversTypes['ViewportContent']>, ParentType, ContextType, RequireFields<ViewportAutoArgs, 'collection' | 'limit'>>;
  bounds?: Resolver<ResolversTypes['Bounds'], ParentType, ContextType>;
  cells?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Cell']>>, ParentType, ContextType, RequireFields<ViewportCellsArgs, 'collection'>>;
  clusters?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Cluster']>>, ParentType, ContextType, RequireFields<ViewportClustersArgs, 'collection' | 'radius'>>;
  count?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType, RequireFields<ViewportCountArgs, 'collection'>>;
  features?: Resolver<Maybe<ResolversTypes['GeoJSON']>, ParentType, ContextType, RequireFields<ViewportFeaturesArgs, 'collection' | 'limit'>>;
  markers?: Resolver<Maybe<ResolversTypes['MarkerConnection']>, ParentType, ContextType, RequireFields<ViewportMarkersArgs, 'collection' | 'first'>>;
  plan?: Resolver<Maybe<ResolversTypes['ViewportPlan']>, ParentType, ContextType, RequireFields<ViewportPlanArgs, 'collection'>>;
  precision?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  zones?: Resolver<Maybe<ResolversTypes['ZoneConnection']>, ParentType, ContextType, RequireFields<ViewportZonesArgs, 'collection' | 'first'>>;
  zoom?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type ViewportContentResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['ViewportContent'] = ResolversParentTypes['ViewportContent']> = {
  clusters?: Resolver<ReadonlyArray<ResolversTypes['Cluster']>, ParentType, ContextType>;
  markers?: Resolver<ReadonlyArray<ResolversTypes['Marker']>, ParentType, ContextType>;
  mode?: Resolver<ResolversTypes['ContentMode'], ParentType, ContextType>;
  precision?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  total?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ViewportPlanResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['ViewportPlan'] = ResolversParentTypes['ViewportPlan']> = {
  precision?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  ranges?: Resolver<ReadonlyArray<ResolversTypes['KeyRange']>, ParentType, ContextType>;
};

export type ZoneResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Zone'] = ResolversParentTypes['Zone']> = {
  bounds?: Resolver<ResolversTypes['Bounds'], ParentType, ContextType>;
  collection?: Resolver<ResolversTypes['Collection'], ParentType, ContextType>;
  geometry?: Resolver<Maybe<ResolversTypes['GeoJSON']>, ParentType, ContextType, Partial<ZoneGeometryArgs>>;
  geometrySource?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  key?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  markers?: Resolver<ResolversTypes['MarkerConnection'], ParentType, ContextType, RequireFields<ZoneMarkersArgs, 'first'>>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  properties?: Resolver<ResolversTypes['JSONObject'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type ZoneConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['ZoneConnection'] = ResolversParentTypes['ZoneConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['ZoneEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Zone']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type ZoneEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['ZoneEdge'] = ResolversParentTypes['ZoneEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Zone'], ParentType, ContextType>;
};

export type Resolvers<ContextType = RequestContext> = {
  Bounds?: BoundsResolvers<ContextType>;
  Cell?: CellResolvers<ContextType>;
  Cluster?: ClusterResolvers<ContextType>;
  Collection?: CollectionResolvers<ContextType>;
  CollectionConnection?: CollectionConnectionResolvers<ContextType>;
  CollectionEdge?: CollectionEdgeResolvers<ContextType>;
  CreateMarkersResult?: CreateMarkersResultResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  GeoJSON?: GraphQLScalarType;
  Geohash?: GraphQLScalarType;
  JSON?: GraphQLScalarType;
  JSONObject?: GraphQLScalarType;
  KeyRange?: KeyRangeResolvers<ContextType>;
  Latitude?: GraphQLScalarType;
  Longitude?: GraphQLScalarType;
  Marker?: MarkerResolvers<ContextType>;
  MarkerChange?: MarkerChangeResolvers<ContextType>;
  MarkerConnection?: MarkerConnectionResolvers<ContextType>;
  MarkerEdge?: MarkerEdgeResolvers<ContextType>;
  MarkerFailure?: MarkerFailureResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  NearbyConnection?: NearbyConnectionResolvers<ContextType>;
  NearbyEdge?: NearbyEdgeResolvers<ContextType>;
  Node?: NodeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  PlaceCount?: PlaceCountResolvers<ContextType>;
  Point?: PointResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Reading?: ReadingResolvers<ContextType>;
  Subscription?: SubscriptionResolvers<ContextType>;
  Viewport?: ViewportResolvers<ContextType>;
  ViewportContent?: ViewportContentResolvers<ContextType>;
  ViewportPlan?: ViewportPlanResolvers<ContextType>;
  Zone?: ZoneResolvers<ContextType>;
  ZoneConnection?: ZoneConnectionResolvers<ContextType>;
  ZoneEdge?: ZoneEdgeResolvers<ContextType>;
};

