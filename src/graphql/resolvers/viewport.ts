import { viewportCells } from '../../map/cells/cells.js';
import { viewportClusters } from '../../map/cells/clusters.js';
import { viewportPlan } from '../../map/markers/plan.js';
import { viewportZones } from '../../map/zones/zone-pages.js';
import type { ViewportResolvers } from '../generated.js';
import { JsonText } from '../json-text.js';

// An argument that is null is treated as omitted, so the schema's defaults are repeated here.
export const viewport: ViewportResolvers = {
  bounds: ({ area }) => area.bounds,
  markers: (parent, { collection, first, after, filter }, { answers }) =>
    answers(collection).viewportMarkers(parent, { first: first ?? 1000, after }, filter),
  count: (parent, { collection }, { answers }) => answers(collection).viewportCount(parent),
  auto: (parent, { collection, limit, filter }, { answers }) =>
    answers(collection).viewportAuto(parent, limit ?? 500, filter),
  features: async (parent, { collection, limit, filter }, { answers }) =>
    new JsonText(await answers(collection).viewportFeatures(parent, limit ?? 2000, filter)),
  cells: (parent, { collection, precision }, { answers }) =>
    viewportCells(answers(collection).stored('cells'), parent, collection, precision),
  clusters: (parent, { collection, radius }, { answers }) =>
    viewportClusters(answers(collection).stored('clusters'), parent, collection, radius ?? 60),
  zones: (parent, { collection, first, after }, { answers }) =>
    viewportZones(answers(collection).stored('zones'), parent, collection, { first: first ?? 100, after }),
  plan: (parent, { collection }, { answers }) => viewportPlan(answers(collection).stored('plan'), parent, collection),
};
