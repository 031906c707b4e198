import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { MapCell } from '../map/cells/cells.js';
import type { MapCluster } from '../map/cells/clusters.js';
import type { Collection as CollectionModel, SourceReport } from '../model/collection.js';
import type { MapMarker, Zone as ZoneModel } from '../model/marker.js';
import type { MarkerChange as LiveMarkerChange } from '../live/change.js';
import type { MarkerConnection as MapMarkerConnection } from '../map/connection.js';
import type { NearbyConnection as MapNearbyConnection, NearbyEdge as NearbyMarkerEdge } from '../map/near/near.js';
import type { SearchConnection as MapSearchConnection, FoundEdge } from '../map/text-search.js';
import type { Viewport as MapViewport } from '../map/viewport.js';
import type { ZoneConnection as MapZoneConnection } from '../map/zones/zones.js';
import type { ViewportContent as MapContent } from '../map/content.js';
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
  DateTime: { input: string; output: string; }
  GeoJSON: { input: unknown; output: unknown; }
  Geohash: { input: string; output: string; }
  JSON: { input: unknown; output: unknown; }
  JSONObject: { input: Readonly<Record<string, unknown>>; output: Readonly<Record<string, unknown>>; }
  Latitude: { input: number; output: number; }
  Longitude: { input: number; output: number; }
};

export type Action =
  | 'admin'
  | 'read'
  | 'record'
  | 'write';

export type Bounds = {
  readonly __typename?: 'Bounds';
  readonly east: Scalars['Float']['output'];
  readonly north: Scalars['Float']['output'];
  readonly south: Scalars['Float']['output'];
  readonly west: Scalars['Float']['output'];
};

export type BoundsInput = {
  readonly east: Scalars['Float']['input'];
  readonly north: Scalars['Float']['input'];
  readonly south: Scalars['Float']['input'];
  readonly west: Scalars['Float']['input'];
};

export type Cell = {
  readonly __typename?: 'Cell';
  readonly bounds: Bounds;
  readonly center: Point;
  readonly centroid: Point;
  readonly children: ReadonlyArray<Cell>;
  readonly count: Scalars['Int']['output'];
  readonly geohash: Scalars['Geohash']['output'];
  readonly markers: MarkerConnection;
  readonly parent?: Maybe<Cell>;
  readonly precision: Scalars['Int']['output'];
};


export type CellMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

export type ChangeKind =
  | 'CREATED'
  | 'DELETED'
  | 'ENTERED'
  | 'LEFT'
  | 'MOVED'
  | 'UPDATED';

export type Cluster = {
  readonly __typename?: 'Cluster';
  readonly bounds: Bounds;
  readonly count: Scalars['Int']['output'];
  readonly expansionZoom: Scalars['Float']['output'];
  readonly geohashes: ReadonlyArray<Scalars['Geohash']['output']>;
  readonly marker?: Maybe<Marker>;
  readonly position: Point;
};

export type Collection = Node & {
  readonly __typename?: 'Collection';
  readonly asOf?: Maybe<Scalars['DateTime']['output']>;
  readonly bounds?: Maybe<Bounds>;
  readonly code?: Maybe<Scalars['String']['output']>;
  readonly count: Scalars['Int']['output'];
  readonly countsExact: Scalars['Boolean']['output'];
  readonly createdAt: Scalars['DateTime']['output'];
  readonly description?: Maybe<Scalars['String']['output']>;
  readonly geoIndex: Scalars['Boolean']['output'];
  readonly globalIds: Scalars['Boolean']['output'];
  readonly id: Scalars['ID']['output'];
  readonly idStrategy: IdStrategy;
  readonly inside: MarkerConnection;
  readonly key: Scalars['String']['output'];
  readonly mapProperties: ReadonlyArray<Scalars['String']['output']>;
  readonly marker?: Maybe<Marker>;
  readonly markers: MarkerConnection;
  readonly markersIn: MarkerConnection;
  readonly name: Scalars['String']['output'];
  readonly nearest: ReadonlyArray<NearbyEdge>;
  readonly places: ReadonlyArray<PlaceCount>;
  readonly prefixLength: Scalars['Int']['output'];
  readonly rankBy?: Maybe<Scalars['String']['output']>;
  readonly readingsBucket: ReadingsBucket;
  readonly readingsSummarized: Scalars['Boolean']['output'];
  readonly readingsTable: ReadingsTable;
  readonly readingsTtlDays?: Maybe<Scalars['Int']['output']>;
  readonly source?: Maybe<CollectionSource>;
  readonly updatedAt: Scalars['DateTime']['output'];
  readonly version: Scalars['Int']['output'];
  readonly within: NearbyConnection;
  readonly writeShards: Scalars['Int']['output'];
  readonly zone?: Maybe<Zone>;
  readonly zones: ZoneConnection;
  readonly zonesAt: ReadonlyArray<Zone>;
};


export type CollectionInsideArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  polygon: Scalars['GeoJSON']['input'];
};


export type CollectionMarkerArgs = {
  key: Scalars['String']['input'];
};


export type CollectionMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type CollectionMarkersInArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  place: ReadonlyArray<Scalars['String']['input']>;
};


export type CollectionNearestArgs = {
  center: PointInput;
  count?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  maxRadius?: InputMaybe<Scalars['Float']['input']>;
};


export type CollectionPlacesArgs = {
  under?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
};


export type CollectionWithinArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  center: PointInput;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  radius: Scalars['Float']['input'];
};


export type CollectionZoneArgs = {
  key: Scalars['String']['input'];
};


export type CollectionZonesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type CollectionZonesAtArgs = {
  point: PointInput;
};

export type CollectionConnection = {
  readonly __typename?: 'CollectionConnection';
  readonly edges: ReadonlyArray<CollectionEdge>;
  readonly nodes: ReadonlyArray<Collection>;
  readonly pageInfo: PageInfo;
};

export type CollectionEdge = {
  readonly __typename?: 'CollectionEdge';
  readonly cursor: Scalars['String']['output'];
  readonly node: Collection;
};

export type CollectionSource = {
  readonly __typename?: 'CollectionSource';
  readonly behindMs?: Maybe<Scalars['Int']['output']>;
  readonly mapping: Scalars['JSONObject']['output'];
  readonly reason?: Maybe<Scalars['String']['output']>;
  readonly rejected: Scalars['Int']['output'];
  readonly state: SourceState;
  readonly table: Scalars['String']['output'];
};

export type ContentMode =
  | 'CLUSTERS'
  | 'MARKERS';

export type CreateCollectionInput = {
  readonly code?: InputMaybe<Scalars['String']['input']>;
  readonly description?: InputMaybe<Scalars['String']['input']>;
  readonly geoIndex?: InputMaybe<Scalars['Boolean']['input']>;
  readonly globalIds?: InputMaybe<Scalars['Boolean']['input']>;
  readonly idStrategy?: InputMaybe<IdStrategy>;
  readonly key: Scalars['String']['input'];
  readonly mapProperties?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  readonly name: Scalars['String']['input'];
  readonly prefixLength?: InputMaybe<Scalars['Int']['input']>;
  readonly rankBy?: InputMaybe<Scalars['String']['input']>;
  readonly readingsBucket?: InputMaybe<ReadingsBucket>;
  readonly readingsSummarized?: InputMaybe<Scalars['Boolean']['input']>;
  readonly readingsTable?: InputMaybe<ReadingsTable>;
  readonly readingsTtlDays?: InputMaybe<Scalars['Int']['input']>;
  readonly writeShards?: InputMaybe<Scalars['Int']['input']>;
};

export type CreateMarkerInput = {
  readonly category?: InputMaybe<Scalars['String']['input']>;
  readonly collection: Scalars['String']['input'];
  readonly key?: InputMaybe<Scalars['String']['input']>;
  readonly name?: InputMaybe<Scalars['String']['input']>;
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  readonly position: PointInput;
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

export type CreateMarkersResult = {
  readonly __typename?: 'CreateMarkersResult';
  readonly failures: ReadonlyArray<MarkerFailure>;
  readonly markers: ReadonlyArray<Marker>;
};

export type CreateZoneInput = {
  readonly collection: Scalars['String']['input'];
  readonly geometry: Scalars['GeoJSON']['input'];
  readonly key?: InputMaybe<Scalars['String']['input']>;
  readonly name?: InputMaybe<Scalars['String']['input']>;
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

export type DeleteMarkersResult = {
  readonly __typename?: 'DeleteMarkersResult';
  readonly deleted: Scalars['Int']['output'];
  readonly failures: ReadonlyArray<MarkerFailure>;
};

export type IdStrategy =
  | 'GIVEN'
  | 'SEQUENCE'
  | 'UUID';

export type KeyRange = {
  readonly __typename?: 'KeyRange';
  readonly bounds: Bounds;
  readonly from: Scalars['String']['output'];
  readonly index: Scalars['String']['output'];
  readonly pk: Scalars['String']['output'];
  readonly to: Scalars['String']['output'];
};

export type Marker = Node & {
  readonly __typename?: 'Marker';
  readonly category?: Maybe<Scalars['String']['output']>;
  readonly cell: Cell;
  readonly collection: Collection;
  readonly createdAt: Scalars['DateTime']['output'];
  readonly geohash: Scalars['Geohash']['output'];
  readonly geojson: Scalars['GeoJSON']['output'];
  readonly globalId?: Maybe<Scalars['ID']['output']>;
  readonly id: Scalars['ID']['output'];
  readonly key: Scalars['String']['output'];
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly place: ReadonlyArray<Scalars['String']['output']>;
  readonly position: Point;
  readonly properties: Scalars['JSONObject']['output'];
  readonly readingSummaries: ReadingSummaries;
  readonly readings: ReadonlyArray<Reading>;
  readonly updatedAt: Scalars['DateTime']['output'];
  readonly version: Scalars['Int']['output'];
};


export type MarkerCellArgs = {
  precision: Scalars['Int']['input'];
};


export type MarkerReadingSummariesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  from: Scalars['DateTime']['input'];
  period?: InputMaybe<SummaryPeriod>;
  to?: InputMaybe<Scalars['DateTime']['input']>;
  value: Scalars['String']['input'];
};


export type MarkerReadingsArgs = {
  from?: InputMaybe<Scalars['DateTime']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  to?: InputMaybe<Scalars['DateTime']['input']>;
};

export type MarkerChange = {
  readonly __typename?: 'MarkerChange';
  readonly at: Scalars['DateTime']['output'];
  readonly id: Scalars['ID']['output'];
  readonly kind: ChangeKind;
  readonly marker?: Maybe<Marker>;
  readonly previous?: Maybe<Point>;
  readonly sequence: Scalars['String']['output'];
};

export type MarkerConnection = {
  readonly __typename?: 'MarkerConnection';
  readonly edges: ReadonlyArray<MarkerEdge>;
  readonly nodes: ReadonlyArray<Marker>;
  readonly pageInfo: PageInfo;
};

export type MarkerEdge = {
  readonly __typename?: 'MarkerEdge';
  readonly cursor: Scalars['String']['output'];
  readonly node: Marker;
};

export type MarkerFailure = {
  readonly __typename?: 'MarkerFailure';
  readonly code: Scalars['String']['output'];
  readonly index: Scalars['Int']['output'];
  readonly message: Scalars['String']['output'];
};

export type MarkerFilter = {
  readonly category?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  readonly properties?: InputMaybe<ReadonlyArray<PropertyFilter>>;
  readonly updatedAfter?: InputMaybe<Scalars['DateTime']['input']>;
};

export type MarkerInput = {
  readonly category?: InputMaybe<Scalars['String']['input']>;
  readonly key?: InputMaybe<Scalars['String']['input']>;
  readonly name?: InputMaybe<Scalars['String']['input']>;
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  readonly position?: InputMaybe<PointInput>;
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

export type MarkerSource =
  | 'INDEX'
  | 'PAGES';

export type Mutation = {
  readonly __typename?: 'Mutation';
  readonly createCollection: Collection;
  readonly createMarker: Marker;
  readonly createMarkers: CreateMarkersResult;
  readonly createZone: Zone;
  readonly deleteCollection: Collection;
  readonly deleteMarker: Marker;
  readonly deleteMarkers: DeleteMarkersResult;
  readonly deleteZone: Zone;
  readonly recordReadings: Scalars['Int']['output'];
  readonly updateCollection: Collection;
  readonly updateMarker: Marker;
  readonly updateZone: Zone;
  readonly upsertMarkers: UpsertMarkersResult;
};


export type MutationCreateCollectionArgs = {
  input: CreateCollectionInput;
};


export type MutationCreateMarkerArgs = {
  input: CreateMarkerInput;
};


export type MutationCreateMarkersArgs = {
  collection: Scalars['String']['input'];
  markers: ReadonlyArray<MarkerInput>;
};


export type MutationCreateZoneArgs = {
  input: CreateZoneInput;
};


export type MutationDeleteCollectionArgs = {
  key: Scalars['String']['input'];
};


export type MutationDeleteMarkerArgs = {
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  id: Scalars['ID']['input'];
};


export type MutationDeleteMarkersArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};


export type MutationDeleteZoneArgs = {
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  id: Scalars['ID']['input'];
};


export type MutationRecordReadingsArgs = {
  marker: Scalars['ID']['input'];
  readings: ReadonlyArray<ReadingInput>;
};


export type MutationUpdateCollectionArgs = {
  input: UpdateCollectionInput;
};


export type MutationUpdateMarkerArgs = {
  input: UpdateMarkerInput;
};


export type MutationUpdateZoneArgs = {
  input: UpdateZoneInput;
};


export type MutationUpsertMarkersArgs = {
  collection: Scalars['String']['input'];
  markers: ReadonlyArray<MarkerInput>;
};

export type NearbyConnection = {
  readonly __typename?: 'NearbyConnection';
  readonly edges: ReadonlyArray<NearbyEdge>;
  readonly nodes: ReadonlyArray<Marker>;
  readonly pageInfo: PageInfo;
};

export type NearbyEdge = {
  readonly __typename?: 'NearbyEdge';
  readonly cursor: Scalars['String']['output'];
  readonly distance: Scalars['Float']['output'];
  readonly node: Marker;
};

export type Node = {
  readonly id: Scalars['ID']['output'];
};

export type PageInfo = {
  readonly __typename?: 'PageInfo';
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  readonly hasNextPage: Scalars['Boolean']['output'];
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  readonly shortBecause?: Maybe<ShortPageReason>;
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

export type Permission = {
  readonly __typename?: 'Permission';
  readonly actions: ReadonlyArray<Action>;
  readonly collections: ReadonlyArray<Scalars['String']['output']>;
  readonly filtered: Scalars['Boolean']['output'];
};

export type PlaceCount = {
  readonly __typename?: 'PlaceCount';
  readonly count: Scalars['Int']['output'];
  readonly name: Scalars['String']['output'];
  readonly place: ReadonlyArray<Scalars['String']['output']>;
};

export type Point = {
  readonly __typename?: 'Point';
  readonly lat: Scalars['Float']['output'];
  readonly lng: Scalars['Float']['output'];
};

export type PointInput = {
  readonly lat: Scalars['Latitude']['input'];
  readonly lng: Scalars['Longitude']['input'];
};

export type PropertyFilter = {
  readonly contains?: InputMaybe<Scalars['String']['input']>;
  readonly eq?: InputMaybe<Scalars['JSON']['input']>;
  readonly exists?: InputMaybe<Scalars['Boolean']['input']>;
  readonly gt?: InputMaybe<Scalars['JSON']['input']>;
  readonly gte?: InputMaybe<Scalars['JSON']['input']>;
  readonly in?: InputMaybe<ReadonlyArray<Scalars['JSON']['input']>>;
  readonly lt?: InputMaybe<Scalars['JSON']['input']>;
  readonly lte?: InputMaybe<Scalars['JSON']['input']>;
  readonly name: Scalars['String']['input'];
  readonly ne?: InputMaybe<Scalars['JSON']['input']>;
};

export type Query = {
  readonly __typename?: 'Query';
  readonly cell?: Maybe<Cell>;
  readonly collection?: Maybe<Collection>;
  readonly collections: CollectionConnection;
  readonly marker?: Maybe<Marker>;
  readonly markerByGlobalId?: Maybe<Marker>;
  readonly node?: Maybe<Node>;
  readonly nodes: ReadonlyArray<Maybe<Node>>;
  readonly search?: Maybe<SearchConnection>;
  readonly viewer: Viewer;
  readonly viewport?: Maybe<Viewport>;
};


export type QueryCellArgs = {
  collection: Scalars['String']['input'];
  geohash: Scalars['Geohash']['input'];
};


export type QueryCollectionArgs = {
  key: Scalars['String']['input'];
};


export type QueryCollectionsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type QueryMarkerArgs = {
  id: Scalars['ID']['input'];
};


export type QueryMarkerByGlobalIdArgs = {
  globalId: Scalars['ID']['input'];
};


export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};


export type QuerySearchArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  bounds?: InputMaybe<BoundsInput>;
  collections?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  first?: InputMaybe<Scalars['Int']['input']>;
  near?: InputMaybe<PointInput>;
  text: Scalars['String']['input'];
};


export type QueryViewportArgs = {
  bounds: BoundsInput;
  zoom: Scalars['Float']['input'];
};

export type Reading = {
  readonly __typename?: 'Reading';
  readonly at: Scalars['DateTime']['output'];
  readonly values: Scalars['JSONObject']['output'];
};

export type ReadingInput = {
  readonly at?: InputMaybe<Scalars['DateTime']['input']>;
  readonly values: Scalars['JSONObject']['input'];
};

export type ReadingSummaries = {
  readonly __typename?: 'ReadingSummaries';
  readonly next?: Maybe<Scalars['DateTime']['output']>;
  readonly shortBecause?: Maybe<ShortPageReason>;
  readonly summaries: ReadonlyArray<ReadingSummary>;
};

export type ReadingSummary = {
  readonly __typename?: 'ReadingSummary';
  readonly count: Scalars['Int']['output'];
  readonly max: Scalars['Float']['output'];
  readonly mean: Scalars['Float']['output'];
  readonly min: Scalars['Float']['output'];
  readonly start: Scalars['DateTime']['output'];
};

export type ReadingsBucket =
  | 'DAY'
  | 'HOUR'
  | 'NONE';

export type ReadingsTable =
  | 'MONTHLY'
  | 'SHARED';

export type SearchConnection = {
  readonly __typename?: 'SearchConnection';
  readonly edges: ReadonlyArray<SearchEdge>;
  readonly pageInfo: PageInfo;
  readonly totalCount: Scalars['Int']['output'];
};

export type SearchEdge = {
  readonly __typename?: 'SearchEdge';
  readonly cursor: Scalars['String']['output'];
  readonly node: SearchResult;
  readonly score: Scalars['Float']['output'];
};

export type SearchResult = Collection | Marker | Zone;

export type ShortPageReason =
  | 'DEADLINE'
  | 'READ_BUDGET';

export type SourceState =
  | 'FAILED'
  | 'FILLING'
  | 'FOLLOWING'
  | 'GAP';

export type Subscription = {
  readonly __typename?: 'Subscription';
  readonly markerChanged: MarkerChange;
  readonly readingRecorded: Reading;
};


export type SubscriptionMarkerChangedArgs = {
  bounds?: InputMaybe<BoundsInput>;
  collection: Scalars['String']['input'];
  since?: InputMaybe<Scalars['DateTime']['input']>;
};


export type SubscriptionReadingRecordedArgs = {
  marker: Scalars['ID']['input'];
  since?: InputMaybe<Scalars['DateTime']['input']>;
};

export type SummaryPeriod =
  | 'DAY'
  | 'HOUR';

export type UpdateCollectionInput = {
  readonly description?: InputMaybe<Scalars['String']['input']>;
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  readonly key: Scalars['String']['input'];
  readonly name?: InputMaybe<Scalars['String']['input']>;
  readonly rankBy?: InputMaybe<Scalars['String']['input']>;
};

export type UpdateMarkerInput = {
  readonly category?: InputMaybe<Scalars['String']['input']>;
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  readonly id: Scalars['ID']['input'];
  readonly name?: InputMaybe<Scalars['String']['input']>;
  readonly place?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  readonly position?: InputMaybe<PointInput>;
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

export type UpdateZoneInput = {
  readonly expectedVersion?: InputMaybe<Scalars['Int']['input']>;
  readonly geometry?: InputMaybe<Scalars['GeoJSON']['input']>;
  readonly id: Scalars['ID']['input'];
  readonly name?: InputMaybe<Scalars['String']['input']>;
  readonly properties?: InputMaybe<Scalars['JSONObject']['input']>;
};

export type UpsertMarkersResult = {
  readonly __typename?: 'UpsertMarkersResult';
  readonly created: Scalars['Int']['output'];
  readonly failures: ReadonlyArray<MarkerFailure>;
  readonly unchanged: Scalars['Int']['output'];
  readonly updated: Scalars['Int']['output'];
};

export type Viewer = {
  readonly __typename?: 'Viewer';
  readonly may: ReadonlyArray<Permission>;
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly roles: ReadonlyArray<Scalars['String']['output']>;
};

export type Viewport = {
  readonly __typename?: 'Viewport';
  readonly auto?: Maybe<ViewportContent>;
  readonly bounds: Bounds;
  readonly cells?: Maybe<ReadonlyArray<Cell>>;
  readonly clusters?: Maybe<ReadonlyArray<Cluster>>;
  readonly count?: Maybe<Scalars['Int']['output']>;
  readonly features?: Maybe<Scalars['GeoJSON']['output']>;
  readonly markers?: Maybe<MarkerConnection>;
  readonly plan?: Maybe<ViewportPlan>;
  readonly precision: Scalars['Int']['output'];
  readonly zones?: Maybe<ZoneConnection>;
  readonly zoom: Scalars['Float']['output'];
};


export type ViewportAutoArgs = {
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};


export type ViewportCellsArgs = {
  collection: Scalars['String']['input'];
  precision?: InputMaybe<Scalars['Int']['input']>;
};


export type ViewportClustersArgs = {
  collection: Scalars['String']['input'];
  radius?: InputMaybe<Scalars['Int']['input']>;
};


export type ViewportCountArgs = {
  collection: Scalars['String']['input'];
};


export type ViewportFeaturesArgs = {
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};


export type ViewportMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection: Scalars['String']['input'];
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type ViewportPlanArgs = {
  collection: Scalars['String']['input'];
};


export type ViewportZonesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection: Scalars['String']['input'];
  first?: InputMaybe<Scalars['Int']['input']>;
};

export type ViewportContent = {
  readonly __typename?: 'ViewportContent';
  readonly clusters: ReadonlyArray<Cluster>;
  readonly markers: ReadonlyArray<Marker>;
  readonly mode: ContentMode;
  readonly precision: Scalars['Int']['output'];
  readonly total: Scalars['Int']['output'];
};

export type ViewportPlan = {
  readonly __typename?: 'ViewportPlan';
  readonly precision: Scalars['Int']['output'];
  readonly ranges: ReadonlyArray<KeyRange>;
  readonly readUnits?: Maybe<Scalars['Float']['output']>;
  readonly requests: Scalars['Int']['output'];
  readonly source: MarkerSource;
};

export type Zone = Node & {
  readonly __typename?: 'Zone';
  readonly bounds: Bounds;
  readonly collection: Collection;
  readonly count?: Maybe<Scalars['Int']['output']>;
  readonly geometry?: Maybe<Scalars['GeoJSON']['output']>;
  readonly geometrySource?: Maybe<Scalars['String']['output']>;
  readonly id: Scalars['ID']['output'];
  readonly key: Scalars['String']['output'];
  readonly markers: MarkerConnection;
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly properties: Scalars['JSONObject']['output'];
  readonly version: Scalars['Int']['output'];
};


export type ZoneCountArgs = {
  collection?: InputMaybe<Scalars['String']['input']>;
};


export type ZoneGeometryArgs = {
  maxVertices?: InputMaybe<Scalars['Int']['input']>;
  tolerance?: InputMaybe<Scalars['Float']['input']>;
};


export type ZoneMarkersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  collection?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<MarkerFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

export type ZoneConnection = {
  readonly __typename?: 'ZoneConnection';
  readonly edges: ReadonlyArray<ZoneEdge>;
  readonly nodes: ReadonlyArray<Zone>;
  readonly pageInfo: PageInfo;
};

export type ZoneEdge = {
  readonly __typename?: 'ZoneEdge';
  readonly cursor: Scalars['String']['output'];
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



/** Mapping of union types */
export type ResolversUnionTypes<_RefType extends Record<string, unknown>> = {
  SearchResult:
    | ( CollectionModel )
    | ( MapMarker )
    | ( ZoneModel )
  ;
};

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
  Action: Action;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Bounds: ResolverTypeWrapper<Bounds>;
  BoundsInput: BoundsInput;
  Cell: ResolverTypeWrapper<MapCell>;
  ChangeKind: ChangeKind;
  Cluster: ResolverTypeWrapper<MapCluster>;
  Collection: ResolverTypeWrapper<CollectionModel>;
  CollectionConnection: ResolverTypeWrapper<Omit<CollectionConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversTypes['CollectionEdge']>, nodes: ReadonlyArray<ResolversTypes['Collection']> }>;
  CollectionEdge: ResolverTypeWrapper<Omit<CollectionEdge, 'node'> & { node: ResolversTypes['Collection'] }>;
  CollectionSource: ResolverTypeWrapper<SourceReport>;
  ContentMode: ContentMode;
  CreateCollectionInput: CreateCollectionInput;
  CreateMarkerInput: CreateMarkerInput;
  CreateMarkersResult: ResolverTypeWrapper<Omit<CreateMarkersResult, 'markers'> & { markers: ReadonlyArray<ResolversTypes['Marker']> }>;
  CreateZoneInput: CreateZoneInput;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  DeleteMarkersResult: ResolverTypeWrapper<DeleteMarkersResult>;
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
  MarkerConnection: ResolverTypeWrapper<MapMarkerConnection>;
  MarkerEdge: ResolverTypeWrapper<Omit<MarkerEdge, 'node'> & { node: ResolversTypes['Marker'] }>;
  MarkerFailure: ResolverTypeWrapper<MarkerFailure>;
  MarkerFilter: MarkerFilter;
  MarkerInput: MarkerInput;
  MarkerSource: MarkerSource;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  NearbyConnection: ResolverTypeWrapper<MapNearbyConnection>;
  NearbyEdge: ResolverTypeWrapper<NearbyMarkerEdge>;
  Node: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['Node']>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  Permission: ResolverTypeWrapper<Permission>;
  PlaceCount: ResolverTypeWrapper<PlaceCount>;
  Point: ResolverTypeWrapper<Point>;
  PointInput: PointInput;
  PropertyFilter: PropertyFilter;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Reading: ResolverTypeWrapper<Reading>;
  ReadingInput: ReadingInput;
  ReadingSummaries: ResolverTypeWrapper<ReadingSummaries>;
  ReadingSummary: ResolverTypeWrapper<ReadingSummary>;
  ReadingsBucket: ReadingsBucket;
  ReadingsTable: ReadingsTable;
  SearchConnection: ResolverTypeWrapper<MapSearchConnection>;
  SearchEdge: ResolverTypeWrapper<FoundEdge>;
  SearchResult: ResolverTypeWrapper<ResolversUnionTypes<ResolversTypes>['SearchResult']>;
  ShortPageReason: ShortPageReason;
  SourceState: SourceState;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Subscription: ResolverTypeWrapper<Record<PropertyKey, never>>;
  SummaryPeriod: SummaryPeriod;
  UpdateCollectionInput: UpdateCollectionInput;
  UpdateMarkerInput: UpdateMarkerInput;
  UpdateZoneInput: UpdateZoneInput;
  UpsertMarkersResult: ResolverTypeWrapper<UpsertMarkersResult>;
  Viewer: ResolverTypeWrapper<Viewer>;
  Viewport: ResolverTypeWrapper<MapViewport>;
  ViewportContent: ResolverTypeWrapper<MapContent>;
  ViewportPlan: ResolverTypeWrapper<ViewportPlan>;
  Zone: ResolverTypeWrapper<ZoneModel>;
  ZoneConnection: ResolverTypeWrapper<MapZoneConnection>;
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
  CollectionSource: SourceReport;
  CreateCollectionInput: CreateCollectionInput;
  CreateMarkerInput: CreateMarkerInput;
  CreateMarkersResult: Omit<CreateMarkersResult, 'markers'> & { markers: ReadonlyArray<ResolversParentTypes['Marker']> };
  CreateZoneInput: CreateZoneInput;
  DateTime: Scalars['DateTime']['output'];
  DeleteMarkersResult: DeleteMarkersResult;
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
  MarkerConnection: MapMarkerConnection;
  MarkerEdge: Omit<MarkerEdge, 'node'> & { node: ResolversParentTypes['Marker'] };
  MarkerFailure: MarkerFailure;
  MarkerFilter: MarkerFilter;
  MarkerInput: MarkerInput;
  Mutation: Record<PropertyKey, never>;
  NearbyConnection: MapNearbyConnection;
  NearbyEdge: NearbyMarkerEdge;
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  PageInfo: PageInfo;
  Permission: Permission;
  PlaceCount: PlaceCount;
  Point: Point;
  PointInput: PointInput;
  PropertyFilter: PropertyFilter;
  Query: Record<PropertyKey, never>;
  Reading: Reading;
  ReadingInput: ReadingInput;
  ReadingSummaries: ReadingSummaries;
  ReadingSummary: ReadingSummary;
  SearchConnection: MapSearchConnection;
  SearchEdge: FoundEdge;
  SearchResult: ResolversUnionTypes<ResolversParentTypes>['SearchResult'];
  String: Scalars['String']['output'];
  Subscription: Record<PropertyKey, never>;
  UpdateCollectionInput: UpdateCollectionInput;
  UpdateMarkerInput: UpdateMarkerInput;
  UpdateZoneInput: UpdateZoneInput;
  UpsertMarkersResult: UpsertMarkersResult;
  Viewer: Viewer;
  Viewport: MapViewport;
  ViewportContent: MapContent;
  ViewportPlan: ViewportPlan;
  Zone: ZoneModel;
  ZoneConnection: MapZoneConnection;
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
  geohashes?: Resolver<ReadonlyArray<ResolversTypes['Geohash']>, ParentType, ContextType>;
  marker?: Resolver<Maybe<ResolversTypes['Marker']>, ParentType, ContextType>;
  position?: Resolver<ResolversTypes['Point'], ParentType, ContextType>;
};

export type CollectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Collection'] = ResolversParentTypes['Collection']> = {
  asOf?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  bounds?: Resolver<Maybe<ResolversTypes['Bounds']>, ParentType, ContextType>;
  code?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  countsExact?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  description?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  geoIndex?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
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
  rankBy?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  readingsBucket?: Resolver<ResolversTypes['ReadingsBucket'], ParentType, ContextType>;
  readingsSummarized?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  readingsTable?: Resolver<ResolversTypes['ReadingsTable'], ParentType, ContextType>;
  readingsTtlDays?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  source?: Resolver<Maybe<ResolversTypes['CollectionSource']>, ParentType, ContextType>;
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

export type CollectionSourceResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['CollectionSource'] = ResolversParentTypes['CollectionSource']> = {
  behindMs?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  mapping?: Resolver<ResolversTypes['JSONObject'], ParentType, ContextType>;
  reason?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  rejected?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  state?: Resolver<ResolversTypes['SourceState'], ParentType, ContextType>;
  table?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type CreateMarkersResultResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['CreateMarkersResult'] = ResolversParentTypes['CreateMarkersResult']> = {
  failures?: Resolver<ReadonlyArray<ResolversTypes['MarkerFailure']>, ParentType, ContextType>;
  markers?: Resolver<ReadonlyArray<ResolversTypes['Marker']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type DeleteMarkersResultResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['DeleteMarkersResult'] = ResolversParentTypes['DeleteMarkersResult']> = {
  deleted?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  failures?: Resolver<ReadonlyArray<ResolversTypes['MarkerFailure']>, ParentType, ContextType>;
};

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
  readingSummaries?: Resolver<ResolversTypes['ReadingSummaries'], ParentType, ContextType, RequireFields<MarkerReadingSummariesArgs, 'first' | 'from' | 'period' | 'value'>>;
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
  sequence?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
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
  deleteMarkers?: Resolver<ResolversTypes['DeleteMarkersResult'], ParentType, ContextType, RequireFields<MutationDeleteMarkersArgs, 'ids'>>;
  deleteZone?: Resolver<ResolversTypes['Zone'], ParentType, ContextType, RequireFields<MutationDeleteZoneArgs, 'id'>>;
  recordReadings?: Resolver<ResolversTypes['Int'], ParentType, ContextType, RequireFields<MutationRecordReadingsArgs, 'marker' | 'readings'>>;
  updateCollection?: Resolver<ResolversTypes['Collection'], ParentType, ContextType, RequireFields<MutationUpdateCollectionArgs, 'input'>>;
  updateMarker?: Resolver<ResolversTypes['Marker'], ParentType, ContextType, RequireFields<MutationUpdateMarkerArgs, 'input'>>;
  updateZone?: Resolver<ResolversTypes['Zone'], ParentType, ContextType, RequireFields<MutationUpdateZoneArgs, 'input'>>;
  upsertMarkers?: Resolver<ResolversTypes['UpsertMarkersResult'], ParentType, ContextType, RequireFields<MutationUpsertMarkersArgs, 'collection' | 'markers'>>;
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
  shortBecause?: Resolver<Maybe<ResolversTypes['ShortPageReason']>, ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PermissionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Permission'] = ResolversParentTypes['Permission']> = {
  actions?: Resolver<ReadonlyArray<ResolversTypes['Action']>, ParentType, ContextType>;
  collections?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  filtered?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
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
  search?: Resolver<Maybe<ResolversTypes['SearchConnection']>, ParentType, ContextType, RequireFields<QuerySearchArgs, 'first' | 'text'>>;
  viewer?: Resolver<ResolversTypes['Viewer'], ParentType, ContextType>;
  viewport?: Resolver<Maybe<ResolversTypes['Viewport']>, ParentType, ContextType, RequireFields<QueryViewportArgs, 'bounds' | 'zoom'>>;
};

export type ReadingResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Reading'] = ResolversParentTypes['Reading']> = {
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  values?: Resolver<ResolversTypes['JSONObject'], ParentType, ContextType>;
};

export type ReadingSummariesResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['ReadingSummaries'] = ResolversParentTypes['ReadingSummaries']> = {
  next?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  shortBecause?: Resolver<Maybe<ResolversTypes['ShortPageReason']>, ParentType, ContextType>;
  summaries?: Resolver<ReadonlyArray<ResolversTypes['ReadingSummary']>, ParentType, ContextType>;
};

export type ReadingSummaryResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['ReadingSummary'] = ResolversParentTypes['ReadingSummary']> = {
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  max?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  mean?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  min?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  start?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type SearchConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SearchConnection'] = ResolversParentTypes['SearchConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['SearchEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type SearchEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SearchEdge'] = ResolversParentTypes['SearchEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['SearchResult'], ParentType, ContextType>;
  score?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type SearchResultResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SearchResult'] = ResolversParentTypes['SearchResult']> = {
  __resolveType: TypeResolveFn<'Collection' | 'Marker' | 'Zone', ParentType, ContextType>;
};

export type SubscriptionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Subscription'] = ResolversParentTypes['Subscription']> = {
  markerChanged?: SubscriptionResolver<ResolversTypes['MarkerChange'], "markerChanged", ParentType, ContextType, RequireFields<SubscriptionMarkerChangedArgs, 'collection'>>;
  readingRecorded?: SubscriptionResolver<ResolversTypes['Reading'], "readingRecorded", ParentType, ContextType, RequireFields<SubscriptionReadingRecordedArgs, 'marker'>>;
};

export type UpsertMarkersResultResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['UpsertMarkersResult'] = ResolversParentTypes['UpsertMarkersResult']> = {
  created?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  failures?: Resolver<ReadonlyArray<ResolversTypes['MarkerFailure']>, ParentType, ContextType>;
  unchanged?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  updated?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ViewerResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Viewer'] = ResolversParentTypes['Viewer']> = {
  may?: Resolver<ReadonlyArray<ResolversTypes['Permission']>, ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  roles?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
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
  readUnits?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  requests?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  source?: Resolver<ResolversTypes['MarkerSource'], ParentType, ContextType>;
};

export type ZoneResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Zone'] = ResolversParentTypes['Zone']> = {
  bounds?: Resolver<ResolversTypes['Bounds'], ParentType, ContextType>;
  collection?: Resolver<ResolversTypes['Collection'], ParentType, ContextType>;
  count?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType, Partial<ZoneCountArgs>>;
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
  CollectionSource?: CollectionSourceResolvers<ContextType>;
  CreateMarkersResult?: CreateMarkersResultResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  DeleteMarkersResult?: DeleteMarkersResultResolvers<ContextType>;
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
  Permission?: PermissionResolvers<ContextType>;
  PlaceCount?: PlaceCountResolvers<ContextType>;
  Point?: PointResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Reading?: ReadingResolvers<ContextType>;
  ReadingSummaries?: ReadingSummariesResolvers<ContextType>;
  ReadingSummary?: ReadingSummaryResolvers<ContextType>;
  SearchConnection?: SearchConnectionResolvers<ContextType>;
  SearchEdge?: SearchEdgeResolvers<ContextType>;
  SearchResult?: SearchResultResolvers<ContextType>;
  Subscription?: SubscriptionResolvers<ContextType>;
  UpsertMarkersResult?: UpsertMarkersResultResolvers<ContextType>;
  Viewer?: ViewerResolvers<ContextType>;
  Viewport?: ViewportResolvers<ContextType>;
  ViewportContent?: ViewportContentResolvers<ContextType>;
  ViewportPlan?: ViewportPlanResolvers<ContextType>;
  Zone?: ZoneResolvers<ContextType>;
  ZoneConnection?: ZoneConnectionResolvers<ContextType>;
  ZoneEdge?: ZoneEdgeResolvers<ContextType>;
};

