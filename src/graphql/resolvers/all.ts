import { cellCentroid } from '../../geo/centroid.js';
import { cellBounds, center } from '../../geo/geohash.js';
import { collectionId, zoneId } from '../../keys/ids.js';
import { cellChildren, cellMarkers, cellParent, viewportCells } from '../../map/cells/cells.js';
import { viewportClusters } from '../../map/cells/clusters.js';
import { collectionBounds, collectionMarkers } from '../../map/collection.js';
import { markersInside } from '../../map/near/inside.js';
import { nearestMarkers } from '../../map/near/near.js';
import { markersInPlace, placesUnder } from '../../map/places.js';
import { viewportPlan } from '../../map/plan.js';
import { collectionZones, viewportZones } from '../../map/zones/zone-connection.js';
import { zoneGeometry } from '../../map/zones/zone-geometry.js';
import { zoneCount, zoneMarkers, zonesAt } from '../../map/zones/zones.js';
import { requireCollection } from '../../read/context.js';
import { deleteCollection, updateCollection } from '../../store/collection/collection-changes.js';
import { createCollection } from '../../store/collection/collections.js';
import { ownCollection } from '../../store/source/source-mapping.js';
import { deleteZone, updateZone } from '../../store/zone/zone-changes.js';
import { createZone } from '../../store/zone/zones.js';
import type { Resolvers } from '../generated.js';
import { scalars } from '../scalars.js';
import { loadMarker } from './load-marker.js';
import { markerMutations } from './marker-mutations.js';
import { marker } from './marker.js';
import { query } from './query.js';
import { referenceOf, storedCollection } from './references.js';
import { subscription } from './subscription.js';

const typeOf = (node: object) => ('prefixLength' in node ? 'Collection' : 'cells' in node ? 'Zone' : 'Marker');

/** Fields without a resolver are properties of their parent. */
export const resolvers: Resolvers = {
  ...scalars,
  Query: query,
  Mutation: {
    ...markerMutations,
    createCollection: async (_root, { input }, { services, answers, work }) => {
      const { loaders } = answers(input.key).stored('createCollection');
      const collection = await createCollection(services.db, input, services.now().toISOString(), work);
      loaders.collections.forget(collection.key);
      services.collectionCache.set(collection.key, collection);
      return collection;
    },

    updateCollection: async (_root, { input: { key, expectedVersion, ...update } }, { services, answers, work }) => {
      const { loaders } = answers(key).stored('updateCollection');
      const options = { now: services.now().toISOString(), expectedVersion };
      const { collection } = await updateCollection(services.db, key, update, options, work);
      loaders.collections.forget(key);
      services.collectionCache.set(collection.key, collection);
      return collection;
    },

    deleteCollection: async (_root, { key }, { services, answers, work }) => {
      const { loaders } = answers(key).stored('deleteCollection');
      const { collection } = await deleteCollection(services.db, key, services.now().toISOString(), work);
      loaders.collections.forget(key);
      return collection;
    },

    createZone: async (_root, { input: { collection: key, ...input } }, context) => {
      const { services, work } = context;
      const collection = await storedCollection(context, key, 'createZone');
      const now = services.now().toISOString();
      return createZone(services.db, collection, input, now, work);
    },

    updateZone: async (_root, { input: { id, expectedVersion, ...update } }, context) => {
      const { services, work } = context;
      const zone = await referenceOf(context, 'zone', id, 'updateZone');
      const change = { now: services.now().toISOString(), expectedVersion };
      return updateZone(services.db, zone, update, change, work);
    },

    deleteZone: async (_root, { id, expectedVersion }, context) => {
      const { services, work } = context;
      const zone = await referenceOf(context, 'zone', id, 'deleteZone');
      return deleteZone(services.db, zone, expectedVersion, work);
    },
  },
  Subscription: subscription,
  Node: { __resolveType: typeOf },
  SearchResult: { __resolveType: typeOf },
  SearchConnection: { totalCount: ({ count }) => count() },
  Collection: {
    id: ({ key }) => collectionId(key),
    count: ({ key }, _args, { answers }) => answers(key).count(),
    countsExact: async (parent, _args, { answers, services, sourceStatus }) => {
      if (parent.source !== undefined) return (await sourceStatus(parent)).state === 'FOLLOWING';
      return answers(parent.key).hasCells && (services.consumerStatus()?.countsExact ?? false);
    },
    asOf: async (parent, _args, { services, sourceStatus }) => {
      const asOf = parent.source === undefined ? await services.trust.asOf() : (await sourceStatus(parent)).asOf;
      return asOf === null ? null : new Date(asOf).toISOString();
    },
    source: async (parent, _args, { sourceStatus }) => {
      const { source } = parent;
      if (source === undefined) return null;
      const mapping = JSON.parse(source.mapping) as Record<string, unknown>;
      return { table: source.table, mapping, ...(await sourceStatus(parent)) };
    },
    bounds: (parent, _args, { answers }) => collectionBounds(answers(parent.key).stored('bounds'), parent),
    marker: (parent, { key }, context, info) => loadMarker(parent.key, key, context, info),
    markers: (parent, { first, after, filter }, { answers }) =>
      collectionMarkers(answers(parent.key).stored('markers'), parent, { first: first ?? 100, after }, filter),
    markersIn: (parent, { place, first, after }, { answers }) =>
      markersInPlace(answers(parent.key).stored('markersIn'), ownCollection(parent, 'markersIn'), place, {
        first: first ?? 100,
        after,
      }),
    zone: (parent, { key }, { answers }) => answers(parent.key).stored('zone').loaders.entities.zone(parent.key, key),
    zones: (parent, { first, after }, { answers }) =>
      collectionZones(answers(parent.key).stored('zones'), parent, { first: first ?? 100, after }),
    zonesAt: (parent, { point }, { answers }) => zonesAt(answers(parent.key).stored('zonesAt'), parent, point),
    places: (parent, { under }, { answers }) => placesUnder(answers(parent.key).stored('places'), parent, under ?? []),
    within: ({ key }, { center, radius, first, after, filter }, { answers }) =>
      answers(key).within({ center, radius }, { first: first ?? 100, after }, filter),
    nearest: (parent, { center, count, maxRadius, filter }, { answers }) =>
      nearestMarkers(answers(parent.key).stored('nearest'), parent, { center, count: count ?? 10, maxRadius }, filter),
    inside: (parent, { polygon, first, after, filter }, { answers }) =>
      markersInside(answers(parent.key).stored('inside'), parent, polygon, { first: first ?? 1000, after }, filter),
  },
  Marker: marker,
  MarkerConnection: { nodes: ({ edges }) => edges.map(({ node }) => node) },
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
    markers: (parent, { collection, first, after, filter }, { answers }) =>
      answers(collection).viewportMarkers(parent, { first: first ?? 1000, after }, filter),
    count: (parent, { collection }, { answers }) => answers(collection).viewportCount(parent),
    auto: (parent, { collection, limit, filter }, { answers }) =>
      answers(collection).viewportAuto(parent, limit ?? 500, filter),
    features: async (parent, { collection, limit, filter }, { answers, services }) =>
      services.answerWriter.text(await answers(collection).viewportFeatures(parent, limit ?? 2000, filter)),
    cells: (parent, { collection, precision }, { answers }) =>
      viewportCells(answers(collection).stored('cells'), parent, collection, precision),
    clusters: (parent, { collection, radius }, { answers }) =>
      viewportClusters(answers(collection).stored('clusters'), parent, collection, radius ?? 60),
    zones: (parent, { collection, first, after }, { answers }) =>
      viewportZones(answers(collection).stored('zones'), parent, collection, { first: first ?? 100, after }),
    plan: (parent, { collection }, { answers }) => viewportPlan(answers(collection).stored('plan'), parent, collection),
  },
  Zone: {
    id: ({ collection, key }) => zoneId(collection, key),
    collection: (parent, _args, { map }) => requireCollection(map, parent.collection),
    geometry: async (parent, detail, { map, services }) =>
      services.answerWriter.text(await zoneGeometry(map, parent, detail)),
    markers: (parent, { collection, first, after, filter }, { answers }) => {
      const key = collection ?? parent.collection;
      return zoneMarkers(answers(key).stored('markers'), parent, key, { first: first ?? 1000, after }, filter);
    },
    count: (parent, { collection }, { answers }) => {
      const key = collection ?? parent.collection;
      return zoneCount(answers(key).stored('count'), parent, key);
    },
    geometrySource: (parent, _args, { map }) => map.loaders.zones.geometrySource(parent),
  },
  ZoneConnection: { nodes: ({ edges }) => edges.map(({ node }) => node) },
};
