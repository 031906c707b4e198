import type { MapCell } from '../../../src/client/public.js';
import { countOf } from '../text/numbers.js';
import type { Heat } from './heat-drawing.js';
import { markersAround } from './kernel.js';
import { shareOf } from './scale.js';

const ROUGH = Intl.NumberFormat('en', { maximumSignificantDigits: 2 });
const COMPACT = Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });
/** Smaller values are shown as none. */
const LEAST = 0.01;

const lengthText = (km: number) => (km < 1 ? `${ROUGH.format(km * 1000)} m` : `${ROUGH.format(km)} km`);

/** The unit of a heatmap's numbers. */
export function unitText({ scale, areCells }: Heat): string {
  return areCells ? 'places per cell' : `places per ${lengthText(scale.unitKm)} square`;
}

const isIn = ({ bounds }: MapCell, { lng, lat }: MapCell['centroid']) =>
  bounds.west <= lng && lng <= bounds.east && bounds.south <= lat && lat <= bounds.north;

/** The value of a heatmap at a position, as text. */
export function valueText(heat: Heat, at: MapCell['centroid']): string {
  const { cells, scale, areCells } = heat;
  if (areCells) return `${countOf(cells.find((cell) => isIn(cell, at))?.count ?? 0, 'place')} in this cell`;
  const value = markersAround(cells, at) * scale.perUnit;
  return `${value < LEAST ? 'No' : `≈ ${ROUGH.format(value)}`} ${unitText(heat)}`;
}

/** Round values for the scale, with their positions as shares of its length. */
export function ticksOf({ scale, areCells }: Heat): readonly { readonly text: string; readonly share: number }[] {
  const top = scale.top * (areCells ? 1 : scale.perUnit);
  const tick = (part: number) => ({ text: COMPACT.format(top * part).replace('K', 'k'), share: shareOf(part, 1) });
  const ticks = [0.01, 0.1].filter((part) => top * part >= LEAST).map(tick);
  return [...ticks, { text: `${tick(1).text}+`, share: 1 }];
}
