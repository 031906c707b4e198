import type { Access } from '../../access/access.js';
import { cellCentroid } from '../../geo/cell-sums.js';
import { cellBounds, center } from '../../geo/geohash.js';
import { collectionId, zoneId } from '../../keys/ids.js';
import { cellChildren, cellMarkers, cellParent, viewportCells } from '../../map/cells/cells.js';
import { viewportClusters } from '../../map/cells/clusters.js';
import { viewportCount } from '../../map/cells/count.js';
import { collectionBounds, collectionCount, collectionMarkers } from '../../map/collection.js';
import { viewportAuto } from '../../map/content.js';
import { viewportFeatures } from '../../map/features.js';
import { viewportMarkers } from '../../map/markers.js';
import { markersInside } from '../../map/near/inside.js';
import { markersWithin, nearestMarkers } from '../../map/near/near.js';
import { markersInPlace, placesUnder } from '../../map/places.js';
import { viewportPlan } from '../../map/plan.js';
import { zoneGeometry } from '../../map/zones/zone-geometry.js';
import { collectionZones, viewportZones, zoneCount, zoneMarkers, zonesAt } from '../../map/zones/zones.js';
import { shownProperties } from '../../model/grant.js';
import { requireCollection } from '../../read/context.js';
import { createCollection, deleteCollection, updateCollection } from '../../store/collection/collections.js';
import { ownCollection } from '../../store/source/source-mapping.js';
import { deleteZone, updateZone } from '../../store/zone/zone-changes.js';
import { createZone } from '../../store/zone/zones.js';
import { refusalOf, requireAction } from '../actions.js';
import type { Resolvers } from '../generated.js';
import { scalars } from '../scalars.js';
import { loadMarker } from './load-marker.js';
import { markerMutations } from './marker-mutations.js';
import { marker } from './marker.js';
import { query } from './query.js';
import { referenceOf, storedCollection } from './references.js';
import { subscription } from './subscription.js';

/** A value that only admins of a collection see. Throws FORBIDDEN. */
function forAdmins<T>(access: Access | undefined, collection: string, value: T): T {
  if (access !== undefined && access.grant('admin', collection) === undefined)
    throw refusalOf(access, 'admin', collection);
  return value;
}

/** The name of an object's type. */
export const typeOf = (node: object) => ('prefixLength' in node ? 'Collection' : 'cells' in node ? 'Zone' : 'Marker');

/** Fields without a resolver are properties of their parent. */
export const resolvers: Resolvers = {
  ...scalars,
  Query: query,
  Mutation: {
    ...markerMutations,
    createCollection: async (_root, { input }, { services, map, work, access }) => {
      requireAction(access, 'createCollection', input.key);
      const now = services.now().toISOString();
      const most = access?.quotas.collections;
      const quota = access && most !== undefined ? { patterns: access.keys('admin'), most } : undefined;
      const collection = await createCollection(work, input, now, quota);
      map.loaders.collections.wrote(collection.key, collection);
      await services.peers?.changed(collection.key, collection);
      return map.loaders.collections.granted(collection, 'read');
    },

    updateCollection: async (
      _root,
      { input: { key, expectedVersion, ...update } },
      { services, map, work, access },
    ) => {
      requireAction(access, 'updateCollection', key);
      const options = { now: services.now().toISOString(), expectedVersion };
      const { collection } = await updateCollection(work, key, update, options);
      map.loaders.collections.wrote(key, collection);
      await services.peers?.changed(collection.key, collection);
      return map.loaders.collections.granted(collection, 'read');
    },

    deleteCollection: async (_root, { key }, { services, map, work, access }) => {
      requireAction(access, 'deleteCollection', key);
      const { collection } = await deleteCollection(work, key, services.now().toISOString());
      map.loaders.collections.wrote(key, null);
      await services.peers?.changed(key, null);
      return map.loaders.collections.granted(collection, 'read');
    },

    createZone: async (_root, { input: { collection: key, ...input } }, context) => {
      const { services, work } = context;
      const collection = await storedCollection(context, key, 'createZone');
      const now = services.now().toISOString();
      return createZone(work, collection, input, now);
    },

    updateZone: async (_root, { input: { id, expectedVersion, ...update } }, context) => {
      const { services, work } = context;
      const zone = await referenceOf(context, 'zone', id, 'updateZone');
      const change = { now: services.now().toISOString(), expectedVersion };
      return updateZone(work, zone, update, change);
    },

    deleteZone: async (_root, { id, expectedVersion }, context) => {
      const zone = await referenceOf(context, 'zone', id, 'deleteZone');
      return deleteZone(context.work, zone, expectedVersion);
    },
  },
  Subscription: subscription,
  Node: { __resolveType: typeOf },
  SearchResult: { __resolveType: typeOf },
  SearchConnection: { totalCount: ({ count }) => count() },
  Collection: {
    id: ({ key }) => collectionId(key),
    mapProperties: ({ mapProperties, grant }) => mapProperties.filter((name) => grant?.hidden.has(name) !== true),
    rankBy: ({ rankBy, grant }) => (rankBy !== null && grant?.hidden.has(rankBy) === true ? null : rankBy),
    count: (parent, _args, { map }) => collectionCount(map, parent),
    countsExact: async (parent, _args, { services, sourceStatus }) => {
      if (parent.source !== undefined) return (await sourceStatus(parent)).state === 'FOLLOWING';
      return services.consumerStatus()?.countsExact ?? false;
    },
    asOf: async (parent, _args, { services, sourceStatus }) => {
      const asOf = parent.source === undefined ? await services.trust.asOf() : (await sourceStatus(parent)).asOf;
      return asOf === null ? null : new Date(asOf).toISOString();
    },
    source: async (parent, _args, { sourceStatus }) => {
      const { source } = parent;
      if (source === undefined) return null;
      const mapping = JSON.parse(source.mapping) as Record<string, unknown>;
      return { collection: parent.key, table: source.table, mapping, ...(await sourceStatus(parent)) };
    },
    bounds: (parent, _args, { map }) => collectionBounds(map, parent),
    marker: (parent, { key }, context, info) => loadMarker(parent.key, key, context, info),
    markers: (parent, { first, after, filter }, { map }) =>
      collectionMarkers(map, parent, { first: first ?? 100, after }, filter),
    markersIn: (parent, { place, first, after }, { map }) =>
      markersInPlace(map, ownCollection(parent, 'markersIn'), place, {
        first: first ?? 100,
        after,
      }),
    zone: (parent, { key }, { map }) => map.loaders.entities.zone(parent.key, key),
    zones: (parent, { first, after }, { map }) => collectionZones(map, parent, { first: first ?? 100, after }),
    zonesAt: (parent, { point }, { map }) => zonesAt(map, parent, point),
    places: (parent, { under }, { map }) => placesUnder(map, parent, under ?? []),
    within: (parent, { center, radius, first, after, filter }, { map }) =>
      markersWithin(map, parent, { center, radius }, { first: first ?? 100, after }, filter),
    nearest: (parent, { center, count, maxRadius, filter }, { map }) =>
      nearestMarkers(map, parent, { center, count: count ?? 10, maxRadius }, filter),
    inside: (parent, { polygon, first, after, filter }, { map }) =>
      markersInside(map, parent, polygon, { first: first ?? 1000, after }, filter),
  },
  Marker: marker,
  NearbyConnection: { nodes: ({ edges }) => edges.map(({ node }) => node) },
  Cell: {
    precision: ({ geohash }) => geohash.length,
    bounds: ({ geohash }) => cellBounds(geohash),
    center: ({ geohash }) => center(geohash),
    centroid: (parent) => cellCentroid(parent.geohash, parent),
    parent: (parent, _args, { map }) => cellParent(map, parent),
    children: (parent, _args, { map }) => cellChildren(map, parent),
    markers: (parent, { first, after }, { map }) => cellMarkers(map, parent, { first: first ?? 100, after }),
  },
  Cluster: {
    geohashes: ({ cells }) => cells.map(({ geohash }) => geohash),
    expansionZoom: (parent) => parent.expansionZoom(),
    marker: (parent) => parent.marker(),
  },
  // An argument that is null is treated as omitted, so the schema's defaults are repeated here.
  Viewport: {
    bounds: ({ area }) => area.bounds,
    markers: (parent, { collection, first, after, filter }, { map }) =>
      viewportMarkers(map, parent, collection, { first: first ?? 1000, after }, filter),
    count: (parent, { collection }, { map }) => viewportCount(map, parent, collection),
    auto: (parent, { collection, limit, filter }, { map }) =>
      viewportAuto(map, parent, collection, limit ?? 500, filter),
    features: async (parent, { collection, limit, filter }, { map, services }) =>
      services.answerWriter.text(await viewportFeatures(map, parent, collection, limit ?? 2000, filter)),
    cells: (parent, { collection, precision }, { map }) => viewportCells(map, parent, collection, precision),
    clusters: (parent, { collection, radius }, { map }) => viewportClusters(map, parent, collection, radius ?? 60),
    zones: (parent, { collection, first, after }, { map }) =>
      viewportZones(map, parent, collection, { first: first ?? 100, after }),
    plan: (parent, { collection }, { map }) => viewportPlan(map, parent, collection),
  },
  Zone: {
    id: ({ collection, key }) => zoneId(collection, key),
    properties: async ({ collection, properties }, _args, { map }) => {
      const { grant } = await requireCollection(map, collection);
      return grant ? shownProperties(grant, properties) : properties;
    },
    collection: (parent, _args, { map }) => requireCollection(map, parent.collection),
    geometry: async (parent, detail, { map, services }) =>
      services.answerWriter.text(await zoneGeometry(map, parent, detail)),
    markers: (parent, { collection, first, after, filter }, { map }) => {
      const key = collection ?? parent.collection;
      return zoneMarkers(map, parent, key, { first: first ?? 1000, after }, filter);
    },
    count: (parent, { collection }, { map }) => {
      const key = collection ?? parent.collection;
      return zoneCount(map, parent, key);
    },
    geometrySource: (parent, _args, { map }) => map.loaders.zones.geometrySource(parent),
  },
  CollectionSource: {
    table: ({ collection, table }, _args, { access }) => forAdmins(access, collection, table),
    mapping: ({ collection, mapping }, _args, { access }) => forAdmins(access, collection, mapping),
    // It names the table, and what is in its items.
    reason: ({ collection, reason }, _args, { access }) => reason && forAdmins(access, collection, reason),
  },
  ZoneConnection: { nodes: ({ edges }) => edges.map(({ node }) => node) },
};
