import type { FeatureCollection } from 'geojson';

import type { MapCell } from '../../../src/client/public.js';
import { heatFeatures } from './draw.js';
import type { Scale } from './scale.js';
import { createScales } from './scales.js';

/** A heatmap as drawn. */
export interface Heat {
  readonly scale: Scale;
  readonly cells: readonly MapCell[];
  /** Whether the cells themselves are drawn. */
  readonly areCells: boolean;
}

const NOTHING: FeatureCollection = { type: 'FeatureCollection', features: [] };

/** The heatmap of one collection. */
export class HeatDrawing {
  readonly #scaleOf;
  #heat: Heat | undefined;

  /** Calls `onScale` once a scale is known. */
  constructor(collection: string, onScale: () => void) {
    this.#scaleOf = createScales(collection, onScale);
  }

  /** The most recently drawn heatmap. */
  get heat(): Heat | undefined {
    return this.#heat;
  }

  /** The features of cells; undefined until their scale is known. */
  featuresOf(cells: readonly MapCell[], areCells: boolean): FeatureCollection | undefined {
    const scale = this.#scaleOf(cells);
    if (cells.length > 0 && !scale) return undefined;
    this.#heat = scale && { scale, cells, areCells };
    return scale ? heatFeatures(cells, scale, areCells ? 'cells' : 'heat') : NOTHING;
  }
}
