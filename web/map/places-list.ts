import type { Bounds, MapCluster, MapMarker } from '../../src/client/public.js';
import type { CollectionLayer } from './layers/collection-layer.js';
import { button, element } from './element.js';

/** As many as somebody may want to walk through with a key. */
const LONGEST = 50;
const COUNT = Intl.NumberFormat('en');

/** A marker or a cluster in view, with its distance from the middle in screen lengths of no unit. */
type Shown = { readonly layer: CollectionLayer; readonly away: number } & (
  { readonly marker: MapMarker } | { readonly cluster: MapCluster }
);

/** Longitude turned so that it is at most half the globe from another. */
const turned = (lng: number, around: number) => lng + 360 * Math.round((around - lng) / 360);

/** What lies within the bounds, the nearest to their middle first. */
export function placesIn({ west, south, east, north }: Bounds, layers: readonly CollectionLayer[]): Shown[] {
  const [middleLng, middleLat] = [(west + east) / 2, (south + north) / 2];
  const narrowing = Math.cos((middleLat * Math.PI) / 180);
  const away = ({ lng, lat }: MapMarker['position']) =>
    Math.hypot((turned(lng, middleLng) - middleLng) * narrowing, lat - middleLat);
  const inside = ({ position: { lng, lat } }: { readonly position: MapMarker['position'] }) => {
    const here = turned(lng, middleLng);
    return here >= west && here <= east && lat >= south && lat <= north;
  };
  return layers
    .flatMap((layer): Shown[] => {
      const { markers, clusters } = layer.content;
      return [
        ...markers.filter(inside).map((marker) => ({ layer, marker, away: away(marker.position) })),
        ...clusters.filter(inside).map((cluster) => ({ layer, cluster, away: away(cluster.position) })),
      ];
    })
    .toSorted((one, other) => one.away - other.away);
}

/** How much is shown, in words. */
export function summary(shown: readonly Shown[], layers: readonly CollectionLayer[]): string {
  const drawn = new Set(layers.map((layer) => layer.drawn));
  if (!drawn.has('points')) return drawn.has('heat') ? 'Heatmap shown' : 'No places shown';
  const clusters = shown.filter((each) => 'cluster' in each).length;
  const places = shown.length - clusters;
  const words = [
    ...(places > 0 || clusters === 0 ? [`${COUNT.format(places)} ${places === 1 ? 'place' : 'places'}`] : []),
    ...(clusters > 0 ? [`${COUNT.format(clusters)} ${clusters === 1 ? 'cluster' : 'clusters'}`] : []),
  ];
  return `${words.join(' and ')} shown`;
}

/** Draws the list, at most 50 of them; the focus stays on its row. */
export function drawPlaces(
  place: HTMLElement,
  shown: readonly Shown[],
  onMarker: (marker: MapMarker) => void,
  onCluster: (layer: CollectionLayer, cluster: MapCluster) => void,
): void {
  const focused = [...place.querySelectorAll('button')].findIndex((each) => each === document.activeElement);
  const rows = shown.slice(0, LONGEST).map((each) => {
    if ('marker' in each) {
      const { marker } = each;
      const kind = element('small', {}, marker.category ?? each.layer.collection.name);
      return button({}, () => onMarker(marker), marker.name ?? marker.key, kind);
    }
    const { cluster } = each;
    const { lng, lat } = cluster.position;
    const where = element('small', {}, `around ${lat.toFixed(1)}, ${lng.toFixed(1)}`);
    return button(
      {},
      () => onCluster(each.layer, cluster),
      `${COUNT.format(cluster.count)} ${cluster.count === 1 ? 'place' : 'places'}`,
      where,
    );
  });
  const rest = shown.length - rows.length;
  place.replaceChildren(
    element('h2', {}, 'In view'),
    element('ul', {}, ...rows.map((row) => element('li', {}, row))),
    ...(rows.length === 0 ? [element('p', {}, 'Nothing here. Zoom out, or switch a layer on.')] : []),
    ...(rest > 0 ? [element('p', {}, `and ${COUNT.format(rest)} more, farther from the middle`)] : []),
  );
  if (focused >= 0) [...place.querySelectorAll('button')][focused]?.focus();
}
