/**
 * The API's promise to its clients, one signature each: names, types, nullability and defaults never change, while more
 * may be added. Arguments are in the order of their documentation.
 */
export const PROMISED: readonly string[] = `
scalar DateTime
scalar JSON
scalar JSONObject
scalar GeoJSON
scalar Geohash
scalar Latitude
scalar Longitude
input PointInput.lng: Longitude!
input PointInput.lat: Latitude!
input BoundsInput.west: Float!
input BoundsInput.south: Float!
input BoundsInput.east: Float!
input BoundsInput.north: Float!
Point.lng: Float!
Point.lat: Float!
Bounds.west: Float!
Bounds.south: Float!
Bounds.east: Float!
Bounds.north: Float!
Node.id: ID!
PageInfo.hasNextPage: Boolean!
PageInfo.hasPreviousPage: Boolean!
PageInfo.startCursor: String
PageInfo.endCursor: String
PageInfo.shortBecause: ShortPageReason
enum ShortPageReason = READ_BUDGET | DEADLINE
Query.viewer: Viewer!
Viewer.name: String
Viewer.roles: [String!]!
Viewer.may: [Permission!]!
Permission.collections: [String!]!
Permission.actions: [Action!]!
Permission.filtered: Boolean!
enum Action = read | write | record | admin
Query.node(id: ID!): Node
Query.nodes(ids: [ID!]!): [Node]!
Query.collection(key: String!): Collection
Query.collections(first: Int = 50, after: String): CollectionConnection!
Query.marker(id: ID!): Marker
Query.markerByGlobalId(globalId: ID!): Marker
Query.cell(collection: String!, geohash: Geohash!): Cell
Query.viewport(bounds: BoundsInput!, zoom: Float!): Viewport
Query.search(text: String!, collections: [String!], bounds: BoundsInput, near: PointInput, first: Int = 20, after: String): SearchConnection
union SearchResult = Marker | Zone | Collection
SearchEdge.cursor: String!
SearchEdge.score: Float!
SearchEdge.node: SearchResult!
SearchConnection.edges: [SearchEdge!]!
SearchConnection.pageInfo: PageInfo!
SearchConnection.totalCount: Int!
Viewport.bounds: Bounds!
Viewport.zoom: Float!
Viewport.precision: Int!
Viewport.markers(collection: String!, first: Int = 1000, after: String, filter: MarkerFilter): MarkerConnection
Viewport.cells(collection: String!, precision: Int): [Cell!]
Viewport.clusters(collection: String!, radius: Int = 60): [Cluster!]
Viewport.zones(collection: String!, first: Int = 100, after: String): ZoneConnection
Viewport.count(collection: String!): Int
Viewport.auto(collection: String!, limit: Int = 500, filter: MarkerFilter): ViewportContent
Viewport.features(collection: String!, limit: Int = 2000, filter: MarkerFilter): GeoJSON
Viewport.plan(collection: String!): ViewportPlan
ViewportContent.mode: ContentMode!
ViewportContent.total: Int!
ViewportContent.markers: [Marker!]!
ViewportContent.clusters: [Cluster!]!
ViewportContent.precision: Int!
enum ContentMode = MARKERS | CLUSTERS
ViewportPlan.precision: Int!
ViewportPlan.source: MarkerSource!
ViewportPlan.ranges: [KeyRange!]!
ViewportPlan.requests: Int!
ViewportPlan.readUnits: Float
enum MarkerSource = PAGES | INDEX
KeyRange.index: String!
KeyRange.pk: String!
KeyRange.from: String!
KeyRange.to: String!
KeyRange.bounds: Bounds!
Collection implements Node
Collection.id: ID!
Collection.key: String!
Collection.name: String!
Collection.description: String
Collection.idStrategy: IdStrategy!
Collection.globalIds: Boolean!
enum IdStrategy = GIVEN | SEQUENCE | UUID
Collection.mapProperties: [String!]!
Collection.rankBy: String
Collection.prefixLength: Int!
Collection.writeShards: Int!
Collection.version: Int!
Collection.createdAt: DateTime!
Collection.updatedAt: DateTime!
Collection.count: Int!
Collection.countsExact: Boolean!
Collection.bounds: Bounds
Collection.code: String
Collection.geoIndex: Boolean!
Collection.source: CollectionSource
Collection.asOf: DateTime
CollectionSource.table: String!
CollectionSource.mapping: JSONObject!
CollectionSource.state: SourceState!
CollectionSource.reason: String
CollectionSource.behindMs: Int
CollectionSource.rejected: Int!
enum SourceState = FILLING | FOLLOWING | GAP | FAILED
Collection.readingsTtlDays: Int
Collection.readingsBucket: ReadingsBucket!
Collection.readingsSummarized: Boolean!
Collection.readingsTable: ReadingsTable!
enum ReadingsBucket = NONE | DAY | HOUR
enum ReadingsTable = SHARED | MONTHLY
Collection.marker(key: String!): Marker
Collection.markersIn(place: [String!]!, first: Int = 100, after: String): MarkerConnection!
Collection.places(under: [String!] = []): [PlaceCount!]!
Collection.within(center: PointInput!, radius: Float!, first: Int = 100, after: String, filter: MarkerFilter): NearbyConnection!
Collection.nearest(center: PointInput!, count: Int = 10, maxRadius: Float, filter: MarkerFilter): [NearbyEdge!]!
Collection.inside(polygon: GeoJSON!, first: Int = 1000, after: String, filter: MarkerFilter): MarkerConnection!
NearbyConnection.edges: [NearbyEdge!]!
NearbyConnection.nodes: [Marker!]!
NearbyConnection.pageInfo: PageInfo!
NearbyEdge.cursor: String!
NearbyEdge.distance: Float!
NearbyEdge.node: Marker!
PlaceCount.name: String!
PlaceCount.place: [String!]!
PlaceCount.count: Int!
Collection.markers(first: Int = 100, after: String, filter: MarkerFilter): MarkerConnection!
Collection.zone(key: String!): Zone
Collection.zones(first: Int = 100, after: String): ZoneConnection!
Collection.zonesAt(point: PointInput!): [Zone!]!
Zone implements Node
Zone.id: ID!
Zone.key: String!
Zone.collection: Collection!
Zone.name: String
Zone.properties: JSONObject!
Zone.bounds: Bounds!
Zone.count(collection: String): Int
Zone.geometry(maxVertices: Int, tolerance: Float): GeoJSON
Zone.geometrySource: String
Zone.version: Int!
Zone.markers(first: Int = 1000, after: String, filter: MarkerFilter, collection: String): MarkerConnection!
ZoneEdge.cursor: String!
ZoneEdge.node: Zone!
ZoneConnection.edges: [ZoneEdge!]!
ZoneConnection.nodes: [Zone!]!
ZoneConnection.pageInfo: PageInfo!
Marker implements Node
Marker.id: ID!
Marker.key: String!
Marker.globalId: ID
Marker.collection: Collection!
Marker.position: Point!
Marker.geohash: Geohash!
Marker.name: String
Marker.category: String
Marker.properties: JSONObject!
Marker.place: [String!]!
Marker.version: Int!
Marker.createdAt: DateTime!
Marker.updatedAt: DateTime!
Marker.geojson: GeoJSON!
Marker.cell(precision: Int!): Cell!
Marker.readings(last: Int = 10, from: DateTime, to: DateTime): [Reading!]!
Marker.readingSummaries(value: String!, period: SummaryPeriod = DAY, from: DateTime!, to: DateTime, first: Int = 400): ReadingSummaries!
enum SummaryPeriod = HOUR | DAY
ReadingSummaries.summaries: [ReadingSummary!]!
ReadingSummaries.next: DateTime
ReadingSummaries.shortBecause: ShortPageReason
ReadingSummary.start: DateTime!
ReadingSummary.count: Int!
ReadingSummary.min: Float!
ReadingSummary.max: Float!
ReadingSummary.mean: Float!
Reading.at: DateTime!
Reading.values: JSONObject!
Cell.geohash: Geohash!
Cell.precision: Int!
Cell.bounds: Bounds!
Cell.center: Point!
Cell.centroid: Point!
Cell.count: Int!
Cell.parent: Cell
Cell.children: [Cell!]!
Cell.markers(first: Int = 100, after: String): MarkerConnection!
Cluster.position: Point!
Cluster.bounds: Bounds!
Cluster.geohashes: [Geohash!]!
Cluster.count: Int!
Cluster.expansionZoom: Float!
Cluster.marker: Marker
input MarkerFilter.category: [String!]
input MarkerFilter.updatedAfter: DateTime
input MarkerFilter.properties: [PropertyFilter!]
input PropertyFilter.name: String!
input PropertyFilter.eq: JSON
input PropertyFilter.ne: JSON
input PropertyFilter.in: [JSON!]
input PropertyFilter.gt: JSON
input PropertyFilter.gte: JSON
input PropertyFilter.lt: JSON
input PropertyFilter.lte: JSON
input PropertyFilter.contains: String
input PropertyFilter.exists: Boolean
MarkerEdge.cursor: String!
MarkerEdge.node: Marker!
MarkerConnection.edges: [MarkerEdge!]!
MarkerConnection.nodes: [Marker!]!
MarkerConnection.pageInfo: PageInfo!
CollectionEdge.cursor: String!
CollectionEdge.node: Collection!
CollectionConnection.edges: [CollectionEdge!]!
CollectionConnection.nodes: [Collection!]!
CollectionConnection.pageInfo: PageInfo!
Mutation.createCollection(input: CreateCollectionInput!): Collection!
Mutation.updateCollection(input: UpdateCollectionInput!): Collection!
Mutation.deleteCollection(key: String!): Collection!
Mutation.createMarker(input: CreateMarkerInput!): Marker!
Mutation.createMarkers(collection: String!, markers: [MarkerInput!]!): CreateMarkersResult!
Mutation.upsertMarkers(collection: String!, markers: [MarkerInput!]!): UpsertMarkersResult!
Mutation.updateMarker(input: UpdateMarkerInput!): Marker!
Mutation.deleteMarker(id: ID!, expectedVersion: Int): Marker!
Mutation.deleteMarkers(ids: [ID!]!): DeleteMarkersResult!
DeleteMarkersResult.deleted: Int!
DeleteMarkersResult.failures: [MarkerFailure!]!
Mutation.createZone(input: CreateZoneInput!): Zone!
Mutation.updateZone(input: UpdateZoneInput!): Zone!
Mutation.deleteZone(id: ID!, expectedVersion: Int): Zone!
input CreateZoneInput.collection: String!
input CreateZoneInput.key: String
input CreateZoneInput.name: String
input CreateZoneInput.properties: JSONObject
input CreateZoneInput.geometry: GeoJSON!
input UpdateZoneInput.id: ID!
input UpdateZoneInput.name: String
input UpdateZoneInput.properties: JSONObject
input UpdateZoneInput.geometry: GeoJSON
input UpdateZoneInput.expectedVersion: Int
input CreateCollectionInput.key: String!
input CreateCollectionInput.name: String!
input CreateCollectionInput.description: String
input CreateCollectionInput.idStrategy: IdStrategy = GIVEN
input CreateCollectionInput.globalIds: Boolean = false
input CreateCollectionInput.mapProperties: [String!]
input CreateCollectionInput.rankBy: String
input CreateCollectionInput.prefixLength: Int
input CreateCollectionInput.writeShards: Int
input CreateCollectionInput.geoIndex: Boolean = true
input CreateCollectionInput.code: String
input CreateCollectionInput.readingsTtlDays: Int
input CreateCollectionInput.readingsBucket: ReadingsBucket = NONE
input CreateCollectionInput.readingsSummarized: Boolean = false
input CreateCollectionInput.readingsTable: ReadingsTable = SHARED
input UpdateCollectionInput.key: String!
input UpdateCollectionInput.name: String
input UpdateCollectionInput.description: String
input UpdateCollectionInput.rankBy: String
input UpdateCollectionInput.expectedVersion: Int
input MarkerInput.key: String
input MarkerInput.position: PointInput
input MarkerInput.name: String
input MarkerInput.category: String
input MarkerInput.properties: JSONObject
input MarkerInput.place: [String!]
input CreateMarkerInput.collection: String!
input CreateMarkerInput.key: String
input CreateMarkerInput.position: PointInput!
input CreateMarkerInput.name: String
input CreateMarkerInput.category: String
input CreateMarkerInput.properties: JSONObject
Mutation.recordReadings(marker: ID!, readings: [ReadingInput!]!): Int!
input ReadingInput.at: DateTime
input ReadingInput.values: JSONObject!
input CreateMarkerInput.place: [String!]
input UpdateMarkerInput.id: ID!
input UpdateMarkerInput.position: PointInput
input UpdateMarkerInput.name: String
input UpdateMarkerInput.category: String
input UpdateMarkerInput.properties: JSONObject
input UpdateMarkerInput.place: [String!]
input UpdateMarkerInput.expectedVersion: Int
CreateMarkersResult.markers: [Marker!]!
CreateMarkersResult.failures: [MarkerFailure!]!
UpsertMarkersResult.created: Int!
UpsertMarkersResult.updated: Int!
UpsertMarkersResult.unchanged: Int!
UpsertMarkersResult.failures: [MarkerFailure!]!
MarkerFailure.index: Int!
MarkerFailure.code: String!
MarkerFailure.message: String!
Subscription.markerChanged(collection: String!, bounds: BoundsInput, since: DateTime): MarkerChange!
Subscription.readingRecorded(marker: ID!, since: DateTime): Reading!
MarkerChange.kind: ChangeKind!
MarkerChange.id: ID!
MarkerChange.marker: Marker
MarkerChange.previous: Point
MarkerChange.at: DateTime!
MarkerChange.sequence: String!
enum ChangeKind = CREATED | UPDATED | MOVED | DELETED | ENTERED | LEFT
`
  .trim()
  .split('\n');
