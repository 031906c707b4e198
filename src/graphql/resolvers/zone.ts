import { zoneId } from '../../keys/ids.js';
import { requireCollection } from '../../map/context.js';
import { zoneGeometry } from '../../map/zone-geometry.js';
import type { ZoneResolvers } from '../generated.js';

export const zone: ZoneResolvers = {
  id: ({ collection, key }) => zoneId(collection, key),
  collection: (parent, _args, { map }) => requireCollection(map, parent.collection),
  geometry: (parent, { maxVertices }, { map }) => zoneGeometry(map, parent, maxVertices),
  geometrySource: (parent, _args, { map }) => map.loaders.geometrySource(parent),
};
