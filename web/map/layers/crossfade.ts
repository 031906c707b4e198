import type { FeatureCollection } from 'geojson';
import type { AddLayerObject, GeoJSONSource, Map as MapLibre } from 'maplibre-gl';

import { paintLayer, type Sketch } from '../base-map/sketch.js';

const FADE_MS = 260;
const EMPTY: FeatureCollection = { type: 'FeatureCollection', features: [] };
const OPACITIES: Readonly<Record<Sketch['type'], readonly string[]>> = {
  circle: ['circle-opacity', 'circle-stroke-opacity'],
  fill: ['fill-opacity'],
  heatmap: ['heatmap-opacity'],
  line: ['line-opacity'],
  symbol: ['text-opacity'],
};

export interface Crossfade {
  /**
   * Replaces the features. With `areOthers` (for example, after a change of zoom), they fade in while the old ones fade
   * out.
   */
  draw(features: FeatureCollection, areOthers: boolean): void;
  /** Changes colors only. */
  repaint(sketches: readonly Sketch[]): void;
  /** IDs of the map layers that show the latest features. */
  readonly layers: readonly string[];
  remove(): void;
}

/** Draws features in two alternating sets of layers, so that one zoom fades into the next. */
export function createCrossfade(
  map: MapLibre,
  id: string,
  first: readonly Sketch[],
  { fade }: { readonly fade: boolean },
): Crossfade {
  const sides = [`${id}/a`, `${id}/b`] as const;
  let sketches = first;
  let front: 0 | 1 = 0;
  let emptying: ReturnType<typeof setTimeout> | undefined;

  const layerId = (side: 0 | 1, { name }: Sketch) => `${sides[side]}/${name}`;
  const source = (side: 0 | 1) => map.getSource<GeoJSONSource>(sides[side]);

  function setOpacity(side: 0 | 1, on: boolean): void {
    for (const sketch of sketches) {
      for (const name of OPACITIES[sketch.type]) {
        const full = (sketch.paint as Readonly<Record<string, unknown>> | undefined)?.[name] ?? 1;
        paintLayer(map, layerId(side, sketch), { [name]: on ? full : 0 });
      }
    }
  }

  for (const side of sides) map.addSource(side, { type: 'geojson', data: EMPTY });
  for (const sketch of sketches) {
    const { name: _, before, ...layer } = sketch;
    for (const side of [0, 1] as const) {
      const transitions = OPACITIES[sketch.type].map((name) => [
        `${name}-transition`,
        { duration: fade ? FADE_MS : 0 },
      ]);
      const paint = { ...sketch.paint, ...(Object.fromEntries(transitions) as object) };
      map.addLayer({ ...layer, id: layerId(side, sketch), source: sides[side], paint } as AddLayerObject, before);
    }
  }
  setOpacity(1, false);

  return {
    draw(features, areOthers) {
      if (areOthers) {
        const back = front;
        front = front === 0 ? 1 : 0;
        setOpacity(front, true);
        setOpacity(back, false);
        clearTimeout(emptying);
        emptying = setTimeout(() => void source(back)?.setData(EMPTY), FADE_MS);
      }
      void source(front)?.setData(features);
    },
    repaint(next) {
      sketches = next;
      for (const sketch of sketches) {
        for (const side of [0, 1] as const) paintLayer(map, layerId(side, sketch), sketch.paint);
      }
      setOpacity(front === 0 ? 1 : 0, false);
    },
    get layers() {
      return sketches.map((sketch) => layerId(front, sketch));
    },
    remove() {
      clearTimeout(emptying);
      for (const side of [0, 1] as const) {
        for (const sketch of sketches) map.removeLayer(layerId(side, sketch));
        map.removeSource(sides[side]);
      }
    },
  };
}
