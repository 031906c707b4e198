import { type Point, canonicalLng } from '../../geo/point.js';
import { type Figures, UNITS_PER_DEGREE } from '../../model/cell.js';

/** What one marker adds to the cells it stands in, as the stream's consumer counts it. */
export function figuresOf({ lng, lat }: Point): Figures {
  return {
    count: 1,
    sumLng: Math.round(canonicalLng(lng) * UNITS_PER_DEGREE) + 0,
    sumLat: Math.round(lat * UNITS_PER_DEGREE) + 0,
  };
}

/** Both together. */
export function addFigures(a: Figures, b: Figures): Figures {
  return { count: a.count + b.count, sumLng: a.sumLng + b.sumLng, sumLat: a.sumLat + b.sumLat };
}

export const NO_FIGURES: Figures = { count: 0, sumLng: 0, sumLat: 0 };
