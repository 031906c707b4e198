import type { Bounds, MapCluster, MapMarker } from '../../../src/client/public.js';
import { button, element } from '../dom/element.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { largestIn } from '../layers/largest.js';
import { countOf, formatNumber } from '../text/numbers.js';

/** Maximum number of rows: as many as are practical to step through with the Tab key. */
const MAX_ROWS = 50;
/** A coordinate with one decimal, without a minus before zero. */
const tenth = (degrees: number) => degrees.toFixed(1).replace(/^-(?=0\.0$)/, '');

/** A marker or cluster in view, with its distance from the center of the screen in degrees of latitude. */
type Shown = { readonly layer: CollectionLayer; readonly distance: number } & (
  { readonly marker: MapMarker } | { readonly cluster: MapCluster }
);

/** Shifts a longitude by full turns to within 180 degrees of another. */
const unwrap = (lng: number, around: number) => lng + 360 * Math.round((around - lng) / 360);

/** Markers and clusters within the bounds, nearest to the center first. */
export function placesIn({ west, south, east, north }: Bounds, layers: readonly CollectionLayer[]): Shown[] {
  const [middleLng, middleLat] = [(west + east) / 2, (south + north) / 2];
  const narrowing = Math.cos((middleLat * Math.PI) / 180);
  const distance = ({ lng, lat }: MapMarker['position']) =>
    Math.hypot((unwrap(lng, middleLng) - middleLng) * narrowing, lat - middleLat);
  const inside = ({ position: { lng, lat } }: { readonly position: MapMarker['position'] }) => {
    const here = unwrap(lng, middleLng);
    return here >= west && here <= east && lat >= south && lat <= north;
  };
  return layers
    .flatMap((layer): Shown[] => {
      const { markers, clusters } = layer.content;
      return [
        ...markers.filter(inside).map((marker) => ({ layer, marker, distance: distance(marker.position) })),
        ...clusters.filter(inside).map((cluster) => ({ layer, cluster, distance: distance(cluster.position) })),
      ];
    })
    .toSorted((a, b) => a.distance - b.distance);
}

/** A summary of the visible content, for screen readers. */
export function summary(shown: readonly Shown[], layers: readonly CollectionLayer[]): string {
  const drawn = new Set(layers.map((layer) => layer.drawn));
  if (!drawn.has('points')) return drawn.has('heat') ? 'Heatmap shown' : 'No places shown';
  const clusters = shown.filter((each) => 'cluster' in each).length;
  const places = shown.length - clusters;
  const words = [
    ...(places > 0 || clusters === 0 ? [countOf(places, 'place')] : []),
    ...(clusters > 0 ? [countOf(clusters, 'cluster')] : []),
  ];
  return `${words.join(' and ')} shown`;
}

/** Draws the list, or a text if it is empty, and keeps the focus on its row. */
export function drawPlaces(
  place: HTMLElement,
  shown: readonly Shown[],
  ifEmpty: string,
  onMarker: (marker: MapMarker) => void,
  onCluster: (layer: CollectionLayer, cluster: MapCluster) => void,
): void {
  const focused = [...place.querySelectorAll('button')].findIndex((each) => each === document.activeElement);
  const rows = shown.slice(0, MAX_ROWS).map((each) => {
    if ('marker' in each) {
      const { marker } = each;
      const kind = element('small', {}, marker.category ?? each.layer.collection.name);
      return button({}, () => onMarker(marker), marker.name ?? marker.key, kind);
    }
    const { cluster } = each;
    const { lng, lat } = cluster.position;
    const where = element('small', {}, `near ${tenth(lat)}, ${tenth(lng)}`);
    const name = element('span', {}, countOf(cluster.count, 'place'));
    const row = button({}, () => onCluster(each.layer, cluster), name, where);
    row.addEventListener('focus', () => {
      void largestIn(each.layer, cluster).then((text) => (name.textContent = text ?? name.textContent));
    });
    return row;
  });
  const rest = shown.length - rows.length;
  place.replaceChildren(
    element('h2', {}, 'In view'),
    element('ul', {}, ...rows.map((row) => element('li', {}, row))),
    ...(rows.length === 0 ? [element('p', {}, ifEmpty)] : []),
    ...(rest > 0 ? [element('p', {}, `and ${formatNumber(rest)} more, farther from the center`)] : []),
  );
  if (focused >= 0) [...place.querySelectorAll('button')][focused]?.focus();
}
