import { viewportCells } from '../../map/cells/cells.js';
import { viewportClusters } from '../../map/cells/clusters.js';
import { viewportAuto } from '../../map/markers/content.js';
import { viewportCount } from '../../map/cells/count.js';
import { viewportFeatures } from '../../map/markers/features.js';
import { viewportMarkers } from '../../map/markers/markers.js';
import { viewportPlan } from '../../map/markers/plan.js';
import { geoTableOf, knowingGeoTable } from '../geo-table.js';
import { viewportZones } from '../../map/zones/zone-pages.js';
import type { ViewportResolvers } from '../generated.js';

/** An argument that is null is taken for one that was left out: the schema's default, said once more for it. */
const ofCollections: ViewportResolvers = {
  bounds: ({ area }) => area.bounds,
  markers: (parent, { collection, first, after, filter }, { map }) =>
    viewportMarkers(map, parent, collection, { first: first ?? 1000, after }, filter),
  cells: (parent, { collection, precision }, { map }) => viewportCells(map, parent, collection, precision),
  clusters: (parent, { collection, radius }, { map }) => viewportClusters(map, parent, collection, radius ?? 60),
  count: (parent, { collection }, { map }) => viewportCount(map, parent, collection),
  auto: (parent, { collection, limit, filter }, { map }) => viewportAuto(map, parent, collection, limit ?? 500, filter),
  features: (parent, { collection, limit, filter }, { map }) =>
    viewportFeatures(map, parent, collection, limit ?? 2000, filter),
  zones: (parent, { collection, first, after }, { map }) =>
    viewportZones(map, parent, collection, { first: first ?? 100, after }),
  plan: (parent, { collection }, { map }) => viewportPlan(map, parent, collection),
};

const ofGeoTable: ViewportResolvers = {
  markers: (parent, { first, after, filter }, context) =>
    geoTableOf(context).answers.viewportMarkers(parent, { first: first ?? 1000, after }, filter),
  count: (parent, _args, context) => geoTableOf(context).answers.viewportCount(parent),
  auto: (parent, { limit, filter }, context) => geoTableOf(context).answers.viewportAuto(parent, limit ?? 500, filter),
  features: (parent, { limit, filter }, context) =>
    geoTableOf(context).answers.viewportFeatures(parent, limit ?? 2000, filter),
};

export const viewport = knowingGeoTable(ofCollections, ofGeoTable, (_viewport, { collection }) => collection);
