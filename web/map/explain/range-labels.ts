import type { Feature } from 'geojson';
import type { Map as MapLibre } from 'maplibre-gl';

import { countOf, formatNumber } from '../text/numbers.js';
import type { Shape } from './view-cost.js';

/** Size of a label in px: drawn if a cell of its range has that much room on the screen. */
const LABEL = { width: 96, height: 30 };
const MARGIN = 6;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const overlap = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** The parts of the map under the page's panels, in px. */
function coveredBoxes(map: MapLibre): Box[] {
  const { left: x, top: y } = map.getContainer().getBoundingClientRect();
  return [...document.querySelectorAll('.panel, #tools')].map((panel) => {
    const { left, top, right, bottom } = panel.getBoundingClientRect();
    return { left: left - x, top: top - y, right: right - x, bottom: bottom - y };
  });
}

interface LabelPlace {
  readonly at: [lng: number, lat: number];
  readonly anchor: string;
}

/** The position of a range's label: an uncovered corner of its largest cell on the screen. */
function labelPlace(map: MapLibre, { cells }: Shape, covered: readonly Box[]): LabelPlace | undefined {
  const { clientWidth, clientHeight } = map.getContainer();
  let best: { readonly area: number; readonly place: LabelPlace } | undefined;
  const world = Math.round(map.getCenter().lng / 360) * 360;
  for (const cell of cells) {
    for (const turn of [world - 360, world, world + 360]) {
      const corner = map.project([cell.west + turn, Math.min(cell.north, 85)]);
      const opposite = map.project([cell.east + turn, Math.max(cell.south, -85)]);
      const [left, top] = [Math.max(corner.x, MARGIN), Math.max(corner.y, MARGIN)];
      const [right, bottom] = [Math.min(opposite.x, clientWidth - MARGIN), Math.min(opposite.y, clientHeight - MARGIN)];
      const area = (right - left) * (bottom - top);
      if (right - left < LABEL.width || bottom - top < LABEL.height || area <= (best?.area ?? 0)) continue;
      for (const isTop of [true, false]) {
        for (const isLeft of [true, false]) {
          const [x, y] = [isLeft ? left : right, isTop ? top : bottom];
          const box = {
            left: isLeft ? x : x - LABEL.width,
            right: isLeft ? x + LABEL.width : x,
            top: isTop ? y : y - LABEL.height,
            bottom: isTop ? y + LABEL.height : y,
          };
          if (area <= (best?.area ?? 0) || covered.some((panel) => overlap(panel, box))) continue;
          const { lng, lat } = map.unproject([x, y]);
          const anchor = `${isTop ? 'top' : 'bottom'}-${isLeft ? 'left' : 'right'}`;
          best = { area, place: { at: [lng, lat], anchor } };
        }
      }
    }
  }
  return best?.place;
}

/** The labels of shapes, as points with a text each; of shapes without room for one there is none. */
export function labelsOf(map: MapLibre, shapes: readonly Shape[]): Feature[] {
  const covered = coveredBoxes(map);
  return shapes.flatMap((shape): Feature[] => {
    const place = labelPlace(map, shape, covered);
    if (!place) return [];
    const { items, readUnits, cached } = shape;
    const isPage = readUnits === null;
    const text =
      countOf(items, isPage ? 'marker' : 'item') + (cached || isPage ? '' : ` · ${formatNumber(readUnits)} RU`);
    const { at, anchor } = place;
    const offset = [anchor.endsWith('left') ? 0.5 : -0.5, anchor.startsWith('top') ? 0.45 : -0.45];
    const properties = { text, cached, anchor, offset, order: -items };
    return [{ type: 'Feature', geometry: { type: 'Point', coordinates: at }, properties }];
  });
}
