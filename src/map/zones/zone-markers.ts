import { shapeIsArea } from '../../geo/zone-geometry.js';
import type { Zone } from '../../model/zone.js';
import { type MapContext, requireCollection } from '../context.js';
import type { MarkerFilterInput } from '../filter.js';
import { planPolygon } from '../near/inside.js';
import { type MarkerPage, type PageInput, readPage } from '../page.js';

const NOTHING = { plan: () => ({ ranges: [], next: undefined }) };

/**
 * A page of the markers of a collection inside a zone that pass the filter, edges included, in the order of their geohashes.
 * A line has none. Throws UNAVAILABLE if the zone's geometry cannot be read.
 */
export async function zoneMarkers(
  context: MapContext,
  zone: Zone,
  collectionKey: string,
  page: PageInput,
  filter?: MarkerFilterInput | null,
): Promise<MarkerPage> {
  const collection = await requireCollection(context, collectionKey);
  const loaded = await context.loaders.zoneGeometry(zone);
  const shape = await loaded.shape;
  return readPage(
    context,
    {
      collection,
      of: ['zone', zone.collection, zone.key, zone.geometry.sha256],
      planner: async (budget) => {
        if (!shapeIsArea(loaded.geometry)) return NOTHING;
        return planPolygon(context, collection, { shape, cover: await loaded.cover }, budget);
      },
      accept: ({ marker }) => shape.contains(marker.position),
      filter,
    },
    page,
  );
}
