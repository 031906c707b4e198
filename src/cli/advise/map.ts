import { mesh } from 'topojson-client';
import type { GeometryObject, Topology } from 'topojson-specification';

import type { Distribution } from '../../capacity/distribution.js';
import type { Bounds } from '../../geo/bounds.js';
import { cellBounds, fromZ } from '../../geo/geohash.js';
import { loadOptional } from '../../optional-package.js';

/** Width of the world map in px, plate carrée. */
const WIDTH = 1_000;
const HEIGHT = 500;
/** Geohash length of the cells drawn: 2.8 px wide. */
const DRAWN_LENGTH = 3;
/** Colors from few markers to many. */
const COLORS = ['#fde3c8', '#fbb982', '#f28a3c', '#d1571b', '#8c2d04'];

const x = (lng: number) => Number((((lng + 180) / 360) * WIDTH).toFixed(1));
const y = (lat: number) => Number((((90 - lat) / 180) * HEIGHT).toFixed(1));

/** The world's coastlines (Natural Earth, 1:110 million) as an SVG path. */
function coasts(): string {
  const topology = loadOptional('the map of a report', 'world-atlas', '/land-110m.json') as Topology<{
    land: GeometryObject;
  }>;
  return mesh(topology, topology.objects.land)
    .coordinates.map((line) =>
      line
        .map(([lng = 0, lat = 0], index) => {
          // A line that crosses the antimeridian continues on the other side of the map.
          const isFirst = index === 0 || Math.abs(lng - (line[index - 1]?.[0] ?? lng)) > 180;
          return `${isFirst ? 'M' : 'L'}${x(lng)} ${y(lat)}`;
        })
        .join(''),
    )
    .join('');
}

function rectangle({ west, south, east, north }: Bounds): string {
  const [left, top, right, bottom] = [x(west), y(north), x(east), y(south)];
  return `M${left} ${top}H${right}V${bottom}H${left}z`;
}

/** The non-empty cells, as one path per color. */
function cells(distribution: Distribution): string[] {
  const found = [...distribution.prefixes(DRAWN_LENGTH)].map(({ prefix, alike, markers }) => ({
    geohash: fromZ(prefix, DRAWN_LENGTH).slice(0, DRAWN_LENGTH - Math.round(Math.log2(alike) / 5)),
    markers,
  }));
  const most = found.reduce((highest, { markers }) => Math.max(highest, markers), 0);
  const least = found.reduce((lowest, { markers }) => Math.min(lowest, markers), most);
  const steps = Math.max(1e-9, Math.log(most / least));
  const paths = COLORS.map(() => '');
  for (const { geohash, markers } of found) {
    const step = Math.min(COLORS.length - 1, Math.floor((Math.log(markers / least) / steps) * COLORS.length));
    paths[step] += rectangle(cellBounds(geohash));
  }
  return paths.map((path, index) => `<path d="${path}" fill="${COLORS[index] ?? ''}"/>`);
}

/** Draws the distribution of markers on a world map as SVG, with an outline around one geohash prefix. */
export function mapSvg(distribution: Distribution, hottest: string): string {
  const outline = `<path d="${rectangle(cellBounds(hottest))}" fill="none" stroke="#0b6e99" stroke-width="2"/>`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Where the markers are"><rect width="${WIDTH}" height="${HEIGHT}" fill="#f4f7f9"/>${cells(distribution).join('')}<path d="${coasts()}" fill="none" stroke="#8a9aa5" stroke-width="0.6"/>${outline}</svg>`;
}
