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
   * An instant in UTC, written as RFC 3339 with a `T` and an offset, e.g. `2026-11-21T09:30:00.000Z`. Input may have any
   * offset; output is always UTC with milliseconds.
   */
  DateTime: { input: string; output: string; }
  /**
   * One GeoJSON object: a geometry, a Feature or a FeatureCollection. Coordinates are in degrees, longitude first. A geometry
   * that crosses the antimeridian is cut in two there.
   */
  GeoJSON: { input: unknown; output: unknown; }
  /**
   * The name of a cell of the geohash grid: 1 to 12 of the characters `0123456789bcdefghjkmnpqrstuvwxyz`, each one dividing
   * the cell before it into 32. Capitals are understood and answered in lower case.
   */
  Geohash: { input: string; output: string; }
  /** Any JSON value: a string, number, boolean, null, list or object. Numbers are doubles. */
  JSON: { input: unknown; output: unknown; }
  /** A JSON object, `{}` included; never a list, a string or a number on its own. */
  JSONObject: { input: Readonly<Record<string, unknown>>; output: Readonly<Record<string, unknown>>; }
  /** Degrees north of the equator, -90 to 90; negative is south. */
  Latitude: { input: number; output: number; }
  /** Degrees east of Greenwich, -180 to 180; negative is west. -180 and 180 are the same meridian. */
  Longitude: { input: number; output: number; }
};

/** A rectangle of longitudes and latitudes. */
export type Bounds = {
  readonly __typename?: 'Bounds';
  /** The right edge in degrees east, -180 to 180. */
  readonly east: Scalars['Float']['output'];
  /** The upper edge in degrees north, -90 to 90. */
  readonly north: Scalars['Float']['output'];
  /** The lower edge in degrees north, -90 to 90. */
  readonly south: Scalars['Float']['output'];
  /** The left edge in degrees east, -180 to 180; greater than `east` where the rectangle crosses the antimeridian. */
  readonly west: Scalars['Float']['output'];
};

/**
 * A rectangle as a map library reports it. All four edges belong to it, so one without width or height finds what lies
 * exactly on it.
 */
export type BoundsInput = {
  /** The right edge in degrees east; 360 or more beyond `west` is the whole way around. */
  readonly east: Scalars['Float']['input'];
  /** The upper edge in degrees north, at least `south`. Beyond -90 or 90 it is moved to the pole. */
  readonly north: Scalars['Float']['input'];
  /** The lower edge in degrees north, at most `north`. Beyond -90 or 90 it is moved to the pole. */
  readonly south: Scalars['Float']['input'];
  /**
   * The left edge in degrees east. Any finite number: a map that was panned around the globe may send 190 or -540. Where it
   * is greater than `east` once both are wrapped to -180..180, the rectangle crosses the antimeridian.
   */
  readonly west: Scalars['Float']['input'];
};

/**
 * A cell of the geohash grid and what is known of the markers in it. Cells of one precision do not overlap: a position on
 * the line between two belongs to the western or southern one.
 */
export type Cell = {
  readonly __typename?: 'Cell';
  /** Its edges in degrees. */
  readonly bounds: Bounds;
  /** The middle of its edges. */
  readonly center: Point;
  /** The mean position of its markers, to a millionth of a degree; the middle where it has none. */
  readonly centroid: Point;
  /** Those of the 32 cells inside it that have markers; none below twelve characters. */
  readonly children: ReadonlyArray<Cell>;
  /** Markers in it, all of them, however little of the cell a viewport shows. */
  readonly count: Scalars['Int']['output'];
  /** Its name in the grid. */
  readonly geohash: Scalars['Geohash']['output'];
  /** The markers in it, in the order of their geohashes. */
  readonly markers: MarkerConnection;
  /** The cell around it; null for one of a single character. */
  readonly parent?: Maybe<Cell>;
  /** Characters in its geohash, 1 to 12. */
  readonly precision: Scalars['Int']['output'];
};


/**
 * A cell of the geohash grid and what is known of the markers in it. Cells of one precision do not overlap: a position on
 * the line between two belongs to the western or southern one.
 */
export type CellMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
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

/** Markers that stand so close at one zoom that a map draws them as one. */
export type Cluster = {
  readonly __typename?: 'Cluster';
  /** A rectangle around its cells, in degrees; its markers lie within. */
  readonly bounds: Bounds;
  /** Markers in it, 1 or more. */
  readonly count: Scalars['Int']['output'];
  /**
   * The least whole zoom, counted as MapLibre does, at which it falls apart. One whose markers never part (they all stand
   * in one place) has 30, the greatest zoom there is.
   */
  readonly expansionZoom: Scalars['Float']['output'];
  /** The marker, where `count` is 1; else null. */
  readonly marker?: Maybe<Marker>;
  /** The mean position of its markers. */
  readonly position: Point;
};

/** A named set of markers that is drawn, counted and paged together. */
export type Collection = Node & {
  readonly __typename?: 'Collection';
  /**
   * A rectangle around its markers, to begin a map with: the least one that holds those cells of four characters (39 by
   * 20 km at the equator) that have markers. It crosses the antimeridian where it is less than half the globe wide that
   * way. Null while the collection is empty.
   */
  readonly bounds?: Maybe<Bounds>;
  /** The two symbols that stand for it in compact keys; null where it was given none. */
  readonly code?: Maybe<Scalars['String']['output']>;
  /** Markers in it, as far as the table's stream has been read: usually within a second of the last write. */
  readonly count: Scalars['Int']['output'];
  /**
   * Whether counts of this collection equal its markers once the stream has been read. False after a gap in the stream,
   * until a recount mends it.
   */
  readonly countsExact: Scalars['Boolean']['output'];
  /** When it was made. */
  readonly createdAt: Scalars['DateTime']['output'];
  /** What it holds, in a sentence or two; null where nobody wrote any. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /**
   * Whether each of its markers gets a `globalId`, by which it is found without the collection's key. It costs one more
   * write to an index when a marker is made, and when it is deleted.
   */
  readonly globalIds: Scalars['Boolean']['output'];
  /** `collection::` followed by the key. */
  readonly id: Scalars['ID']['output'];
  /** How its markers get their keys; never changes. */
  readonly idStrategy: IdStrategy;
  /** The markers inside a polygon, its edges and those of its holes included, in the order of their geohashes. */
  readonly inside: MarkerConnection;
  /** Its name in keys, queries and on the command line; never changes. */
  readonly key: Scalars['String']['output'];
  /**
   * Names of the marker properties that a map draws. They stand in the geographic index, so that a viewport shows them
   * without reading the markers themselves. All properties of a marker stand there while they are small.
   */
  readonly mapProperties: ReadonlyArray<Scalars['String']['output']>;
  /** One of its markers by key; null where there is none. */
  readonly marker?: Maybe<Marker>;
  /** All its markers, in the order of their geohashes. */
  readonly markers: MarkerConnection;
  /**
   * Its markers at a place of their hierarchy and at all places inside it, in the order of their places and keys. Names
   * match as a whole (`1` does not find `12`), after Unicode NFC.
   */
  readonly markersIn: MarkerConnection;
  /** What people call it. */
  readonly name: Scalars['String']['output'];
  /**
   * The nearest markers, nearest first: all `count` of them, or as many as there are. What would take more reads than the
   * server's ceiling fails with LIMIT_EXCEEDED; other than the nearest are never told.
   */
  readonly nearest: ReadonlyArray<NearbyEdge>;
  /**
   * The next level of the hierarchy below a place, in the order of the names' bytes, each with the number of markers at it
   * and inside it. Names without markers are left out. Counts follow the table's stream as `count` does. A level of more
   * than 5,000 names, unless the server is set up otherwise, is refused with LIMIT_EXCEEDED.
   */
  readonly places: ReadonlyArray<PlaceCount>;
  /**
   * Geohash characters in the partition key of its markers, 0 to 6. More of them spread writes over more partitions and
   * make a viewport take more Query calls.
   */
  readonly prefixLength: Scalars['Int']['output'];
  /** Whether readings of a marker are spread over partitions by time. */
  readonly readingsBucket: ReadingsBucket;
  /**
   * Days for which a reading of its markers is shown, counted from the instant it was measured; DynamoDB removes it some time
   * after. Null where readings are kept for good.
   */
  readonly readingsTtlDays?: Maybe<Scalars['Int']['output']>;
  /** When the collection itself was last changed. */
  readonly updatedAt: Scalars['DateTime']['output'];
  /** 1 at first, raised by 1 with each change of the collection itself; markers do not touch it. */
  readonly version: Scalars['Int']['output'];
  /**
   * The markers within a radius, the nearest first, those equally far in the order of their keys: exact over poles and the
   * antimeridian, both ends included. A page ends at its ceiling of reads too (up to 50 km around 16 Query calls), so that it
   * may hold fewer than `first`, even none, and still have a next one: go on by `endCursor`.
   */
  readonly within: NearbyConnection;
  /** Partitions that each prefix is spread over, 1 for a collection without hot spots. A viewport reads all of them. */
  readonly writeShards: Scalars['Int']['output'];
  /** One of its zones by key; null where there is none. */
  readonly zone?: Maybe<Zone>;
  /** All its zones, in the order of their keys. */
  readonly zones: ZoneConnection;
  /**
   * Its zones that a position is in, in the order of their keys: exactly, edges included, and found in three Query calls
   * however many zones there are elsewhere. Of a line a position is in it only where it lies exactly on it. UNAVAILABLE where
   * a zone may hold the position and its geometry cannot be read: an answer without it could be wrong.
   */
  readonly zonesAt: ReadonlyArray<Zone>;
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionInsideArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  polygon: Scalars['GeoJSON']['input'];
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionMarkerArgs = {
  key: Scalars['String']['input'];
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionMarkersInArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  place: ReadonlyArray<Scalars['String']['input']>;
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionNearestArgs = {
  center: PointInput;
  count?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  maxRadius?: InputMaybe<Scalars['Float']['input']>;
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionPlacesArgs = {
  under?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionWithinArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  center: PointInput;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  radius: Scalars['Float']['input'];
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionZoneArgs = {
  key: Scalars['String']['input'];
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionZonesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/** A named set of markers that is drawn, counted and paged together. */
export type CollectionZonesAtArgs = {
  point: PointInput;
};

/** A page of collections. */
export type CollectionConnection = {
  readonly __typename?: 'CollectionConnection';
  /** The collections with a cursor for each. */
  readonly edges: ReadonlyArray<CollectionEdge>;
  /** The collections alone. */
  readonly nodes: ReadonlyArray<Collection>;
  /** Whether and from where there is more. */
  readonly pageInfo: PageInfo;
};

/** A collection and its place in the list. */
export type CollectionEdge = {
  readonly __typename?: 'CollectionEdge';
  /** Hand it over as `after` to go on behind this collection. */
  readonly cursor: Scalars['String']['output'];
  /** The collection. */
  readonly node: Collection;
};

/** How the content of a viewport is drawn. */
export type ContentMode =
  /** Gathered into clusters, because there are too many. */
  | 'CLUSTERS'
  /** Each marker by itself. */
  | 'MARKERS';

/** What a new collection is made from. */
export type CreateCollectionInput = {
  /** Two letters or digits that no other collection has; required where the table's keys are compact. */
  readonly code?: InputMaybe<Scalars['String']['input']>;
  /** What it holds, in a sentence or two. */
  readonly description?: InputMaybe<Scalars['String']['input']>;
  /** Whether each of its markers gets a `globalId`. */
  readonly globalIds?: InputMaybe<Scalars['Boolean']['input']>;
  /** How its markers get their keys. */
  readonly idStrategy?: InputMaybe<IdStrategy>;
  /** 1 to 63 of `a-z`, `0-9`, `_` and `-`, beginning with a letter or digit. Can never be changed. */
  readonly key: Scalars['String']['input'];
  /** Up to 64 names of marker properties that a map draws; none where left out. */
  readonly mapProperties?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** What people call it: 1 character or more. */
  readonly name: Scalars['String']['input'];
  /** Geohash characters in the partition key of its markers, 0 to 6; 2 where left out. */
  readonly prefixLength?: InputMaybe<Scalars['Int']['input']>;
  /** For sensors that report very much. Other than NONE it needs `readingsTtlDays`: up to 62 with DAY, up to 2 with HOUR. */
  readonly readingsBucket?: InputMaybe<ReadingsBucket>;
  /** Days for which readings of its markers are kept, 1 to 36,500; for good where left out. */
  readonly readingsTtlDays?: InputMaybe<Scalars['Int']['input']>;
  /** Partitions that each prefix is spread over, 1 to 32; 1 where left out. */
  readonly writeShards?: InputMaybe<Scalars['Int']['input']>;
};

/** A new marker and the collection it goes into. */
export type CreateMarkerInput = {
  /** The kind of place. */
  readonly category?: InputMaybe<Scalars['String']['input']>;
  /** Key of a collection that exists. */
  readonly collection: Scalars['String']['input'];
  /**
   * 1 to 1,012 bytes of UTF-8 that name it within the collection. It has to be given where the collection's `idStrategy` is
   * GIVEN, and must not be where it is another.
   */
  readonly key?: InputMaybe<Scalars['String']['input']>;
  /** What people call it. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /**
   * Where it hangs in a hierarchy, outermost first: up to 12 names of 1 to 200 bytes of UTF-8. Spellings of one name that
   * Unicode NFC makes the same are the same.
   */
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** Where it stands. */
  readonly position: PointInput;
  /** Whatever else is known of it. The marker as a whole takes at most 400 KB in DynamoDB. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** What became of a batch of new markers. Each was stored whole or not at all, whatever became of the others. */
export type CreateMarkersResult = {
  readonly __typename?: 'CreateMarkersResult';
  /** Those that were not, and why. */
  readonly failures: ReadonlyArray<MarkerFailure>;
  /** Those that were stored, in the order they were given. */
  readonly markers: ReadonlyArray<Marker>;
};

/** A new zone and the collection it goes into. */
export type CreateZoneInput = {
  /** Key of a collection that exists. */
  readonly collection: Scalars['String']['input'];
  /**
   * A Polygon, MultiPolygon, LineString or MultiLineString, or a Feature with one: up to 500,000 positions, of which only
   * longitude and latitude are kept. Edges are straight in degrees. Rings are closed. Of two positions more than 180 degrees
   * apart the edge crosses the antimeridian.
   */
  readonly geometry: Scalars['GeoJSON']['input'];
  /**
   * 1 to 1,012 bytes of UTF-8 that name it among the zones of the collection. It has to be given where the collection's
   * `idStrategy` is GIVEN, and must not be where it is another.
   */
  readonly key?: InputMaybe<Scalars['String']['input']>;
  /** What people call it. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /** Whatever else is known of it. The zone as a whole, without a geometry that lies elsewhere, takes at most 400 KB. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** How markers of a collection get their keys. */
export type IdStrategy =
  /** Whoever makes a marker gives its key. */
  | 'GIVEN'
  /** They are counted: 1, 2, 3 and so on. No two get the same number; numbers of markers that were not made are left out. */
  | 'SEQUENCE'
  /** UUIDs of version 7, which begin with the time. */
  | 'UUID';

/** The sort keys from `from` to `to`, both included, in one partition of one index. */
export type KeyRange = {
  readonly __typename?: 'KeyRange';
  /** The least rectangle around what the range covers, in degrees. */
  readonly bounds: Bounds;
  /** The least sort key. */
  readonly from: Scalars['String']['output'];
  /** Name of the index in DynamoDB. */
  readonly index: Scalars['String']['output'];
  /** Value of its partition key. */
  readonly pk: Scalars['String']['output'];
  /** The greatest sort key. */
  readonly to: Scalars['String']['output'];
};

/** A place on the map. */
export type Marker = Node & {
  readonly __typename?: 'Marker';
  /** The kind of place, for filters and symbols; null where it has none. */
  readonly category?: Maybe<Scalars['String']['output']>;
  /** The cell of a given size that it stands in. */
  readonly cell: Cell;
  /** The collection it belongs to. */
  readonly collection: Collection;
  /** When it was made. In a viewport it is read from the markers themselves, in one batch. */
  readonly createdAt: Scalars['DateTime']['output'];
  /** The cell of ten characters (about a metre) that it stands in; one at longitude 180 has that of -180. */
  readonly geohash: Scalars['Geohash']['output'];
  /** The marker as a GeoJSON Feature: a Point, its id, and its properties with `key`, `name` and `category` among them. */
  readonly geojson: Scalars['GeoJSON']['output'];
  /**
   * A UUID that names it among the markers of all collections, fit for `Query.markerByGlobalId`; null where its collection
   * gives none. In a viewport it is read from the markers themselves, in one batch.
   */
  readonly globalId?: Maybe<Scalars['ID']['output']>;
  /** `marker::`, the collection's key, `::` and the marker's key. */
  readonly id: Scalars['ID']['output'];
  /** Its name within the collection; never changes. */
  readonly key: Scalars['String']['output'];
  /** What people call it; null where it has no name. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /**
   * Where it hangs in a hierarchy, outermost first, e.g. `["Poznań", "A", "2", "13"]`; empty where it hangs nowhere. In a
   * viewport it is read from the markers themselves, in one batch.
   */
  readonly place: ReadonlyArray<Scalars['String']['output']>;
  /** Where it stands, exactly as it was given. */
  readonly position: Point;
  /** Whatever else is known of it. Where a map drew only some of it, the rest is read now, in one batch for all markers. */
  readonly properties: Scalars['JSONObject']['output'];
  /**
   * What was measured of it, newest first; readings that have expired are not among them. Asked of a single marker, the
   * latest readings are read together with it in one Query.
   */
  readonly readings: ReadonlyArray<Reading>;
  /** When it was last changed. In a viewport it is read from the markers themselves, in one batch. */
  readonly updatedAt: Scalars['DateTime']['output'];
  /** 1 at first, raised by 1 with each change. In a viewport it is read from the markers themselves, in one batch. */
  readonly version: Scalars['Int']['output'];
};


/** A place on the map. */
export type MarkerCellArgs = {
  precision: Scalars['Int']['input'];
};


/** A place on the map. */
export type MarkerReadingsArgs = {
  from?: InputMaybe<Scalars['DateTime']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  to?: InputMaybe<Scalars['DateTime']['input']>;
};

/** One change of one marker. */
export type MarkerChange = {
  readonly __typename?: 'MarkerChange';
  /** When it was written by the clock of DynamoDB, cut to the second; DynamoDB Local cuts it to the minute. */
  readonly at: Scalars['DateTime']['output'];
  /** The marker's id. */
  readonly id: Scalars['ID']['output'];
  /** What happened, as seen from the rectangle where one is given. */
  readonly kind: ChangeKind;
  /** The marker as this change left it; null once it is deleted. It may have changed again since. */
  readonly marker?: Maybe<Marker>;
  /** Where it stood before; null where it was not there. */
  readonly previous?: Maybe<Point>;
};

/** A page of markers. */
export type MarkerConnection = {
  readonly __typename?: 'MarkerConnection';
  /** The markers with a cursor for each. */
  readonly edges: ReadonlyArray<MarkerEdge>;
  /** The markers alone. */
  readonly nodes: ReadonlyArray<Marker>;
  /** Whether and from where there is more. */
  readonly pageInfo: PageInfo;
};

/** A marker and its place in the list. */
export type MarkerEdge = {
  readonly __typename?: 'MarkerEdge';
  /** Hand it over as `after` to go on behind this marker. */
  readonly cursor: Scalars['String']['output'];
  /** The marker. */
  readonly node: Marker;
};

/** A marker of a batch that was not stored. */
export type MarkerFailure = {
  readonly __typename?: 'MarkerFailure';
  /** What an error of its own would carry as `extensions.code`, e.g. `CONFLICT` where the key is taken. */
  readonly code: Scalars['String']['output'];
  /** Its place in the batch, from 0. */
  readonly index: Scalars['Int']['output'];
  /** What is wrong with it, in words. */
  readonly message: Scalars['String']['output'];
};

/**
 * Which markers to keep: those that pass every part that is given. What the geographic index does not hold (`updatedAfter`,
 * properties that no map draws) is looked up in the markers themselves; where that would take too many reads, it fails with
 * LIMIT_EXCEEDED.
 */
export type MarkerFilter = {
  /** Any of these categories, letter by letter. */
  readonly category?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** All of these comparisons. */
  readonly properties?: InputMaybe<ReadonlyArray<PropertyFilter>>;
  /** Changed later than this instant. */
  readonly updatedAfter?: InputMaybe<Scalars['DateTime']['input']>;
};

/** A new marker where the collection is already named. */
export type MarkerInput = {
  /** The kind of place. */
  readonly category?: InputMaybe<Scalars['String']['input']>;
  /**
   * 1 to 1,012 bytes of UTF-8 that name it within the collection. It has to be given where the collection's `idStrategy` is
   * GIVEN, and must not be where it is another.
   */
  readonly key?: InputMaybe<Scalars['String']['input']>;
  /** What people call it. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /**
   * Where it hangs in a hierarchy, outermost first: up to 12 names of 1 to 200 bytes of UTF-8. Spellings of one name that
   * Unicode NFC makes the same are the same.
   */
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** Where it stands. */
  readonly position: PointInput;
  /** Whatever else is known of it. The marker as a whole takes at most 400 KB in DynamoDB. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type Mutation = {
  readonly __typename?: 'Mutation';
  /** Makes an empty collection. CONFLICT where the key or the code is taken. */
  readonly createCollection: Collection;
  /** Puts one marker on the map with a single conditional write. CONFLICT where its key is taken. */
  readonly createMarker: Marker;
  /** Puts up to 500 markers into one collection. What is wrong with one of them keeps none of the others out. */
  readonly createMarkers: CreateMarkersResult;
  /**
   * Makes a zone; it and the cells it is found by appear together. CONFLICT where its key is taken, LIMIT_EXCEEDED where its
   * geometry is too large for DynamoDB and the server has no object store.
   */
  readonly createZone: Zone;
  /**
   * Deletes a collection with all that is in it, and answers with it as it was. Nothing of it is to be seen any more; other
   * servers may show it for two seconds. It is emptied in the background, and as long as that takes, at least a minute, its
   * key and its code are CONFLICT.
   */
  readonly deleteCollection: Collection;
  /**
   * Takes a marker off the map with a single conditional write, and deletes its readings; answers with the marker as it
   * was. A marker made again under its key has none of them.
   */
  readonly deleteMarker: Marker;
  /** Deletes a zone with the cells it is found by; answers with it as it was, but for a large geometry, which is gone by then. */
  readonly deleteZone: Zone;
  /**
   * Records readings of a marker and answers how many instants were stored. A reading of an instant that has one already
   * takes its place, so a call may be repeated, and should be after THROTTLED or UNAVAILABLE. One that has expired already
   * is left out. NOT_FOUND where there is no such marker.
   */
  readonly recordReadings: Scalars['Int']['output'];
  /**
   * Changes what is said of a collection with a single conditional write. CONFLICT, with the current `version` in the
   * error's extensions, where another is expected.
   */
  readonly updateCollection: Collection;
  /**
   * Changes a marker with a single conditional write, whatever indexes it stands in; only what is given changes. NOT_FOUND
   * where there is none; CONFLICT, with the current `version` in the error's extensions, where another is expected.
   */
  readonly updateMarker: Marker;
  /**
   * Changes a zone, and the cells it is found by where it gets another geometry, all together; only what is given changes.
   * NOT_FOUND where there is none; CONFLICT, with the current `version` in the error's extensions, where another is expected.
   */
  readonly updateZone: Zone;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationCreateCollectionArgs = {
  input: CreateCollectionInput;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationCreateMarkerArgs = {
  input: CreateMarkerInput;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationCreateMarkersArgs = {
  collection: Scalars['String']['input'];
  markers: ReadonlyArray<MarkerInput>;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationCreateZoneArgs = {
  input: CreateZoneInput;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationDeleteCollectionArgs = {
  key: Scalars['String']['input'];
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationDeleteMarkerArgs = {
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  id: Scalars['ID']['input'];
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationDeleteZoneArgs = {
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  id: Scalars['ID']['input'];
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationRecordReadingsArgs = {
  marker: Scalars['ID']['input'];
  readings: ReadonlyArray<ReadingInput>;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationUpdateCollectionArgs = {
  input: UpdateCollectionInput;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationUpdateMarkerArgs = {
  input: UpdateMarkerInput;
};


/** Everything that can be changed. Fields of one request run one after the other, as GraphQL has it. */
export type MutationUpdateZoneArgs = {
  input: UpdateZoneInput;
};

/** A page of markers by their distance. */
export type NearbyConnection = {
  readonly __typename?: 'NearbyConnection';
  /** The markers with a distance and a cursor for each. */
  readonly edges: ReadonlyArray<NearbyEdge>;
  /** The markers alone. */
  readonly nodes: ReadonlyArray<Marker>;
  /** Whether and from where there is more. */
  readonly pageInfo: PageInfo;
};

/** A marker and how far away it is. */
export type NearbyEdge = {
  readonly __typename?: 'NearbyEdge';
  /** Hand it over to `within` as `after` to go on behind this marker. */
  readonly cursor: Scalars['String']['output'];
  /** Metres from the center along a great circle, on a sphere with a radius of 6,371,008.8 m. */
  readonly distance: Scalars['Float']['output'];
  /** The marker. */
  readonly node: Marker;
};

/** Anything that can be read again by its id alone. */
export type Node = {
  /** Names it among all nodes and for as long as it exists; fit for the cache of a client and for `Query.node`. */
  readonly id: Scalars['ID']['output'];
};

/** Where a page stands in its list. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** Where the next page begins: hand it over as `after`. Null only where there is nothing to go on from. */
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  /** Whether anything may follow. A page that its ceiling of reads cut short says true, even where it is empty. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** Whether the page was asked for with a cursor, so that something may stand before it. */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** Cursor of the first entry; null on a page without entries. */
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

/** A place in the hierarchy of a collection's markers. */
export type PlaceCount = {
  readonly __typename?: 'PlaceCount';
  /** Markers at it and at all places inside it, as far as the table's stream has been read. */
  readonly count: Scalars['Int']['output'];
  /** The last name of the place, in Unicode NFC. */
  readonly name: Scalars['String']['output'];
  /** All its names, outermost first: give them to `places` for the level below, or to `markersIn` for the markers. */
  readonly place: ReadonlyArray<Scalars['String']['output']>;
};

/** A position on the globe. */
export type Point = {
  readonly __typename?: 'Point';
  /** Degrees north, -90 to 90. */
  readonly lat: Scalars['Float']['output'];
  /** Degrees east, -180 to 180, as it was given: 180 is not turned into -180. */
  readonly lng: Scalars['Float']['output'];
};

/** A position on the globe. */
export type PointInput = {
  /** Degrees north, -90 to 90. */
  readonly lat: Scalars['Latitude']['input'];
  /** Degrees east, -180 to 180. */
  readonly lng: Scalars['Longitude']['input'];
};

/**
 * One comparison with one property; exactly one of the fields besides `name` must be given. A marker without the property
 * passes only `ne` and `exists: false`.
 */
export type PropertyFilter = {
  /** A string that has this in it, or a list that has this string as a member; capitals count. */
  readonly contains?: InputMaybe<Scalars['String']['input']>;
  /** The same JSON value. */
  readonly eq?: InputMaybe<Scalars['JSON']['input']>;
  /** Whether the property is there at all, be it null. */
  readonly exists?: InputMaybe<Scalars['Boolean']['input']>;
  /** Greater: numbers by size, strings by their characters' code units. A property of another type does not pass. */
  readonly gt?: InputMaybe<Scalars['JSON']['input']>;
  /** Greater or the same. */
  readonly gte?: InputMaybe<Scalars['JSON']['input']>;
  /** The same as one of these values. */
  readonly in?: InputMaybe<ReadonlyArray<Scalars['JSON']['input']>>;
  /** Less. */
  readonly lt?: InputMaybe<Scalars['JSON']['input']>;
  /** Less or the same. */
  readonly lte?: InputMaybe<Scalars['JSON']['input']>;
  /** Name of the property. */
  readonly name: Scalars['String']['input'];
  /** Another JSON value, or none at all. */
  readonly ne?: InputMaybe<Scalars['JSON']['input']>;
};

/** Everything that can be read. */
export type Query = {
  readonly __typename?: 'Query';
  /** One cell of a collection, with a count of 0 where it has no markers. */
  readonly cell?: Maybe<Cell>;
  /** One collection; null where there is none. */
  readonly collection?: Maybe<Collection>;
  /** All collections, in the order of their keys. */
  readonly collections: CollectionConnection;
  /** One marker, as its last write left it; null where there is none. */
  readonly marker?: Maybe<Marker>;
  /** One marker; null where there is none. One that was made a moment ago may take another to be found. */
  readonly markerByGlobalId?: Maybe<Marker>;
  /** Whatever has this id; null where there is nothing. */
  readonly node?: Maybe<Node>;
  /** Several at once, in the order of their ids and in one batched read; null where there is nothing. */
  readonly nodes: ReadonlyArray<Maybe<Node>>;
  /** What a map shows. Reading starts with the fields of the answer; the viewport itself reads nothing. */
  readonly viewport?: Maybe<Viewport>;
};


/** Everything that can be read. */
export type QueryCellArgs = {
  collection: Scalars['String']['input'];
  geohash: Scalars['Geohash']['input'];
};


/** Everything that can be read. */
export type QueryCollectionArgs = {
  key: Scalars['String']['input'];
};


/** Everything that can be read. */
export type QueryCollectionsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/** Everything that can be read. */
export type QueryMarkerArgs = {
  id: Scalars['ID']['input'];
};


/** Everything that can be read. */
export type QueryMarkerByGlobalIdArgs = {
  globalId: Scalars['ID']['input'];
};


/** Everything that can be read. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/** Everything that can be read. */
export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};


/** Everything that can be read. */
export type QueryViewportArgs = {
  bounds: BoundsInput;
  zoom: Scalars['Float']['input'];
};

/** What was measured of a marker at one instant. Readings are kept apart from the marker and do not touch its version. */
export type Reading = {
  readonly __typename?: 'Reading';
  /** When it was measured: UTC with milliseconds. There is one reading of a marker at an instant. */
  readonly at: Scalars['DateTime']['output'];
  /** What was measured: numbers and texts by name, in the units of whoever recorded them. */
  readonly values: Scalars['JSONObject']['output'];
};

/** A reading to be recorded. */
export type ReadingInput = {
  /**
   * When it was measured; finer fractions than milliseconds are cut off. The moment of the call by the server's clock where
   * it is left out, which one reading of a call may do.
   */
  readonly at?: InputMaybe<Scalars['DateTime']['input']>;
  /**
   * What was measured: numbers and texts by name, nothing nested, under 400 KB in all. Whole numbers of more than 53 bits
   * are refused, as JSON would lose their last digits; write them as texts.
   */
  readonly values: Scalars['JSONObject']['input'];
};

/** Where readings of a marker stand. */
export type ReadingsBucket =
  /** Each day of UTC in a partition of its own, which the latest readings are looked for in one after the other. */
  | 'DAY'
  /** The same for each hour. */
  | 'HOUR'
  /** All with the marker, so that it and its latest readings are read together. */
  | 'NONE';

/**
 * Changes as they are read from the stream of the markers' table, whoever made them: this API, an import, another program,
 * the console of AWS. They usually arrive within half a second. Those of one marker come in their order; a change may come
 * more than once, and never silently not at all: a subscription from which one is missing ends with an error, and so does
 * one whose client takes them too slowly (LIMIT_EXCEEDED). Sent over a WebSocket at `/graphql` (graphql-ws) or as
 * server-sent events from `/graphql/stream`.
 */
export type Subscription = {
  readonly __typename?: 'Subscription';
  /**
   * Markers of a collection that are made, changed, moved and deleted; with `bounds`, those that are in the rectangle before
   * or after.
   */
  readonly markerChanged: MarkerChange;
  /** Readings of one marker as they are recorded, in the order of recording; one of the same instant again comes again. */
  readonly readingRecorded: Reading;
};


/**
 * Changes as they are read from the stream of the markers' table, whoever made them: this API, an import, another program,
 * the console of AWS. They usually arrive within half a second. Those of one marker come in their order; a change may come
 * more than once, and never silently not at all: a subscription from which one is missing ends with an error, and so does
 * one whose client takes them too slowly (LIMIT_EXCEEDED). Sent over a WebSocket at `/graphql` (graphql-ws) or as
 * server-sent events from `/graphql/stream`.
 */
export type SubscriptionMarkerChangedArgs = {
  bounds?: InputMaybe<BoundsInput>;
  collection: Scalars['String']['input'];
  since?: InputMaybe<Scalars['DateTime']['input']>;
};


/**
 * Changes as they are read from the stream of the markers' table, whoever made them: this API, an import, another program,
 * the console of AWS. They usually arrive within half a second. Those of one marker come in their order; a change may come
 * more than once, and never silently not at all: a subscription from which one is missing ends with an error, and so does
 * one whose client takes them too slowly (LIMIT_EXCEEDED). Sent over a WebSocket at `/graphql` (graphql-ws) or as
 * server-sent events from `/graphql/stream`.
 */
export type SubscriptionReadingRecordedArgs = {
  marker: Scalars['ID']['input'];
  since?: InputMaybe<Scalars['DateTime']['input']>;
};

/** What is to change of a collection. What is left out stays as it is. */
export type UpdateCollectionInput = {
  /** What it holds, in a sentence or two; null takes it away. */
  readonly description?: InputMaybe<Scalars['String']['input']>;
  /** Nothing is changed, and the answer is CONFLICT, unless the collection has this version. */
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  /** Its key. */
  readonly key: Scalars['String']['input'];
  /** What people call it: 1 character or more. Null is not allowed. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
};

/** What is to change of a marker. What is left out stays as it is. */
export type UpdateMarkerInput = {
  /** The kind of place; null takes it away. */
  readonly category?: InputMaybe<Scalars['String']['input']>;
  /** Nothing is changed, and the answer is CONFLICT, unless the marker has this version. */
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  /** Its id. */
  readonly id: Scalars['ID']['input'];
  /** What people call it; null takes its name away. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /** Where it hangs in a hierarchy, see `CreateMarkerInput.place`; null or an empty list takes it out. */
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** Where it stands from now on: it moves. Null is not allowed, as every marker stands somewhere. */
  readonly position?: InputMaybe<PointInput>;
  /** All of its properties, in place of those it has; null takes them away. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/** What is to change of a zone. What is left out stays as it is. */
export type UpdateZoneInput = {
  /** Nothing is changed, and the answer is CONFLICT, unless the zone has this version. */
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  /** Where it lies, as in `CreateZoneInput`. Null is not allowed. */
  readonly geometry?: InputMaybe<Scalars['GeoJSON']['input']>;
  /** Its id. */
  readonly id: Scalars['ID']['input'];
  /** What people call it; null takes it away. */
  readonly name?: InputMaybe<Scalars['String']['input']>;
  /** Whatever else is known of it, all of it; null takes it away. */
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type Viewport = {
  readonly __typename?: 'Viewport';
  /** Markers while few enough are inside, else clusters. */
  readonly auto?: Maybe<ViewportContent>;
  /** The rectangle that was asked for, wrapped and clamped to -180..180 and -90..90. */
  readonly bounds: Bounds;
  /** The cells that touch the rectangle and have markers, for a heatmap. A cell on its edge comes with its whole count. */
  readonly cells?: Maybe<ReadonlyArray<Cell>>;
  /**
   * The markers inside and close to the edges, gathered into clusters. The same markers make the same clusters while the
   * map is panned.
   */
  readonly clusters?: Maybe<ReadonlyArray<Cluster>>;
  /**
   * How many markers are inside: exact once the table's stream is read. Whole cells are counted by their counts, only
   * those on the edge are looked into.
   */
  readonly count?: Maybe<Scalars['Int']['output']>;
  /**
   * A FeatureCollection to hand to a map as it is: one Point feature for each marker while they fit into `limit`, else one
   * for each cluster with `cluster: true` and its `count`.
   */
  readonly features?: Maybe<Scalars['GeoJSON']['output']>;
  /**
   * The markers inside, in the order of their geohashes. A page ends at its ceiling of reads too, so that it may hold
   * fewer than `first` and still have a next one.
   */
  readonly markers?: Maybe<MarkerConnection>;
  /** The ranges of keys that its markers would be read from, without reading them. */
  readonly plan?: Maybe<ViewportPlan>;
  /** Characters in the geohashes of its cells: so many that a cell is 24 to 192 px wide at this zoom. */
  readonly precision: Scalars['Int']['output'];
  /**
   * The zones of which something is inside, in the order of their keys, each once over all pages. A page ends at its ceiling
   * of reads too, so that it may hold fewer than `first` and still have a next one.
   */
  readonly zones?: Maybe<ZoneConnection>;
  /** The zoom that was asked for: at 0 the world is 512 px wide, each step doubles it. */
  readonly zoom: Scalars['Float']['output'];
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportAutoArgs = {
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportCellsArgs = {
  collection: Scalars['String']['input'];
  precision?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportClustersArgs = {
  collection: Scalars['String']['input'];
  radius?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportCountArgs = {
  collection: Scalars['String']['input'];
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportFeaturesArgs = {
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportPlanArgs = {
  collection: Scalars['String']['input'];
};


/**
 * What a map shows inside one rectangle at one zoom. Each of these fields may fail on its own and leave the others be.
 * What would take more reads than the server's ceiling fails with LIMIT_EXCEEDED; nothing is left out silently.
 */
export type ViewportZonesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection: Scalars['String']['input'];
  first?: InputMaybe<Scalars['Int']['input']>;
};

/** Markers or clusters, whichever fits. */
export type ViewportContent = {
  readonly __typename?: 'ViewportContent';
  /** The clusters of the rectangle; empty in the mode MARKERS. */
  readonly clusters: ReadonlyArray<Cluster>;
  /** All markers inside, in the order of their geohashes; empty in the mode CLUSTERS. */
  readonly markers: ReadonlyArray<Marker>;
  /** Which of the two lists is filled; the other one is empty. */
  readonly mode: ContentMode;
  /** Characters in the geohashes of the cells that the clusters are made from. */
  readonly precision: Scalars['Int']['output'];
  /** Markers inside the rectangle. */
  readonly total: Scalars['Int']['output'];
};

/** What reading a viewport's markers takes. */
export type ViewportPlan = {
  readonly __typename?: 'ViewportPlan';
  /** Characters in the geohashes of the viewport's cells. */
  readonly precision: Scalars['Int']['output'];
  /** One Query call for each, in the order they are read; at most as many as the ceiling of one page. */
  readonly ranges: ReadonlyArray<KeyRange>;
};

/** An area or a line on the map: a country, a district, a river. */
export type Zone = Node & {
  readonly __typename?: 'Zone';
  /** The least rectangle around it, in degrees; west is greater than east where that crosses the antimeridian. */
  readonly bounds: Bounds;
  /** The collection it belongs to. */
  readonly collection: Collection;
  /**
   * Its geometry: a Polygon, MultiPolygon, LineString or MultiLineString, cut in two where it crosses the antimeridian. Null
   * with UNAVAILABLE on this field where it lies in an object store and is missing or damaged there, or where the store does
   * not answer. All geometry of one answer together takes at most 64 MB.
   */
  readonly geometry?: Maybe<Scalars['GeoJSON']['output']>;
  /** Where the whole geometry lies, for a human; null where it lies with the zone in DynamoDB. */
  readonly geometrySource?: Maybe<Scalars['String']['output']>;
  /** `zone::`, the collection's key, `::` and the zone's key. */
  readonly id: Scalars['ID']['output'];
  /** Its name within the collection; never changes. */
  readonly key: Scalars['String']['output'];
  /**
   * The markers inside, its edges included, in the order of their geohashes. A line has no inside, and no markers. Fails with
   * UNAVAILABLE where its geometry cannot be read.
   */
  readonly markers: MarkerConnection;
  /** What people call it; null where it has no name. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** Whatever else is known of it. */
  readonly properties: Scalars['JSONObject']['output'];
  /** 1 at first, raised by 1 with each change. */
  readonly version: Scalars['Int']['output'];
};


/** An area or a line on the map: a country, a district, a river. */
export type ZoneGeometryArgs = {
  maxVertices?: InputMaybe<Scalars['Int']['input']>;
};


/** An area or a line on the map: a country, a district, a river. */
export type ZoneMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of zones. */
export type ZoneConnection = {
  readonly __typename?: 'ZoneConnection';
  /** The zones with a cursor for each. */
  readonly edges: ReadonlyArray<ZoneEdge>;
  /** The zones alone. */
  readonly nodes: ReadonlyArray<Zone>;
  /** Whether and from where there is more. */
  readonly pageInfo: PageInfo;
};

/** A zone and its place in the list. */
export type ZoneEdge = {
  readonly __typename?: 'ZoneEdge';
  /** Hand it over as `after` to go on behind this zone. */
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

