import { zoneId } from '../../keys/ids.js';
import { requireCollection } from '../../map/context.js';
import { zoneGeometry } from '../../map/zones/zone-geometry.js';
import { zoneCount, zoneMarkers } from '../../map/zones/zone-markers.js';
import type { ZoneResolvers } from '../generated.js';
import { JsonText } from '../json-text.js';

export const zone: ZoneResolvers = {
  id: ({ collection, key }) => zoneId(collection, key),
  collection: (parent, _args, { map }) => requireCollection(map, parent.collection),
  geometry: async (parent, detail, { map }) => new JsonText(await zoneGeometry(map, parent, detail)),
  markers: (parent, { collection, first, after, filter }, { answers }) => {
    const key = collection ?? parent.collection;
    return zoneMarkers(answers(key).stored('markers'), parent, key, { first: first ?? 1000, after }, filter);
  },
  count: (parent, { collection }, { answers }) => {
    const key = collection ?? parent.collection;
    return zoneCount(answers(key).stored('count'), parent, key);
  },
  geometrySource: (parent, _args, { map }) => map.loaders.geometrySource(parent),
};
