import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl';

import type { Bounds } from '../../../src/client/public.js';
import { send } from '../../../src/client/request.js';
import { ZONE, ZONE_COUNTS, type Collection, type ZoneDetails } from '../api/documents.js';
import { request, SERVER } from '../api/graphql.js';
import { element } from '../dom/element.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { countOf } from '../text/numbers.js';
import { largestPart } from '../view/largest-part.js';
import { zoneCard } from './card.js';

const SOURCE = 'selected-zone';
const COLOR = '#e79a2b';
/** Maximum number of collections whose markers in a zone are counted. */
const MAX_COUNTED = 3;
/** The outline has the detail of a pixel at this zoom, and is used for other zooms, too. */
const DETAIL_ZOOM = 5;

export interface ZoneSelection {
  /** Highlights a zone. Resolves with its card and its main part; undefined if the zone does not exist. */
  open(
    id: string,
    onClose: () => void,
  ): Promise<{ readonly card: readonly Node[]; readonly bounds: Bounds } | undefined>;
  clear(): void;
}

/** The collections to count markers of: those shown that have markers, or all with markers if none is shown. */
function countedOf(layers: readonly CollectionLayer[]): readonly Collection[] {
  const filled = layers.filter(({ collection }) => collection.count > 0);
  const shown = filled.filter(({ drawn }) => drawn !== 'off');
  const collections = (shown.length > 0 ? shown : filled).map(({ collection }) => collection);
  return collections.toSorted((one, other) => other.count - one.count).slice(0, MAX_COUNTED);
}

/** The zone whose card is open, drawn above the others. */
export function createZoneSelection(map: MapLibre, layers: () => readonly CollectionLayer[]): ZoneSelection {
  map.addSource(SOURCE, { type: 'geojson', data: { type: 'FeatureCollection', features: [] } });
  map.addLayer({ id: SOURCE, source: SOURCE, type: 'fill', paint: { 'fill-color': COLOR, 'fill-opacity': 0.14 } });
  map.addLayer({
    id: `${SOURCE}/line`,
    source: SOURCE,
    type: 'line',
    layout: { 'line-join': 'round' },
    paint: { 'line-color': COLOR, 'line-width': 2.5 },
  });

  /** Counts what was opened and closed: an answer may arrive after the next one was asked for. */
  let latest = 0;
  const draw = (geometry: ZoneDetails['geometry']) =>
    void map.getSource<GeoJSONSource>(SOURCE)?.setData(geometry ?? { type: 'FeatureCollection', features: [] });

  /** Adds a line for each collection with markers inside, except for those with too many to count. */
  async function count(id: string, place: HTMLElement): Promise<void> {
    const most = countedOf(layers());
    if (most.length === 0) return;
    const [a, b, c] = most.map(({ key }) => key);
    // If some counts fail, the others are still shown.
    const { data } = await send(SERVER, ZONE_COUNTS, { id, a, b, c, hasB: most.length > 1, hasC: most.length > 2 }); // prettier-ignore
    const { node } = data as { readonly node: Readonly<Record<string, number | null>> | null };
    for (const [at, { name }] of most.entries()) {
      const inside = node?.['abc'.charAt(at)];
      if (inside != null) place.append(element('p', {}, `${countOf(inside, 'place')} inside: ${name}`));
    }
  }

  return {
    async open(id, onClose) {
      const opened = ++latest;
      const tolerance = 360 / (512 * 2 ** Math.max(DETAIL_ZOOM, Math.floor(map.getZoom())));
      const { node } = await request<{ readonly node: ZoneDetails | null }>(ZONE, { id, tolerance });
      if (!node) return undefined;
      if (opened === latest) draw(node.geometry);
      const counts = element('div', { class: 'counts', role: 'status' });
      // Without counts, the card still shows the rest.
      void count(id, counts).catch(() => undefined);
      return { card: zoneCard(node, counts, onClose), bounds: largestPart(node.geometry) ?? node.bounds };
    },
    clear() {
      latest += 1;
      draw(null);
    },
  };
}
