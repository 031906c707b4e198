import './style.css';

import type { Map as MapLibre } from 'maplibre-gl';

import type { Answer } from '../../../src/client/public.js';
import { MAX_VIEWS } from './history.js';
import { createHotKeyList } from './hot-keys.js';
import { createPanel } from './panel.js';
import { createRangeLayers, type Colors } from './range-layers.js';
import { addAnswer, NO_COST, shapesOf, type Shape, type Shown, type ViewCost } from './view-cost.js';

/** Shows what each view read, on the map and in a panel. */
export interface Explain {
  /** Records a response to a request with `explain: true`; repeated calls are ignored. */
  record(answer: Answer, shown: Shown): void;
  setVisible(on: boolean): void;
}

/**
 * If no response arrives this long after a move, the view needed none: requests start 100 ms after a move, then take a
 * while.
 */
const NO_REQUEST_MS = 900;
/** A response that arrives this much later without a move is due to changed data, and counts as a new view. */
const SAME_VIEW_MS = 2_000;

function colorsOf(place: HTMLElement): Colors {
  const style = getComputedStyle(place);
  const color = (name: string) => style.getPropertyValue(`--explain-${name}`).trim();
  return { read: color('read'), cached: color('cached'), requested: color('requested'), halo: color('halo') };
}

/** Explain mode for a map whose style is loaded. It is hidden until `setVisible(true)`. */
export function createExplain(map: MapLibre, place: HTMLElement): Explain {
  /** A viewport keeps its answer through several states. */
  const recorded = new WeakSet<Answer>();
  let views: readonly ViewCost[] = [];
  let shapes: readonly Shape[] = [];
  let visible = false;
  let moved = true;
  let recordedAt = 0;
  let noRequest: ReturnType<typeof setTimeout> | undefined;

  const panel = createPanel(place, (index) => {
    const found = index === undefined ? [] : shapes.filter(({ reads }) => reads.includes(index));
    layers.highlight(found.map(({ id }) => id));
    // A shape may represent several rows, and several pages one row.
    const [shape, ...others] = found;
    const rows = shape && others.length === 0 ? shape.reads : index === undefined ? [] : [index];
    panel.mark(rows, false);
  });
  const layers = createRangeLayers(
    map,
    () => colorsOf(place),
    (id) => {
      layers.highlight(id === undefined ? [] : [id]);
      panel.mark(shapes.find((shape) => shape.id === id)?.reads ?? [], true);
    },
  );

  const hotKeys = createHotKeyList(map, () => colorsOf(place).requested);
  place.append(hotKeys.element);

  function draw(): void {
    const cost = views.at(-1);
    if (!visible || !cost) return;
    shapes = shapesOf(cost);
    layers.draw(shapes, cost.regions);
    panel.show(views);
  }

  /** The current view; a new one if the map has moved. */
  function current(): ViewCost {
    const now = performance.now();
    const isNew = moved || now - recordedAt > SAME_VIEW_MS;
    moved = false;
    recordedAt = now;
    if (isNew) views = [...views, NO_COST].slice(-MAX_VIEWS);
    return views.at(-1) ?? NO_COST;
  }

  map.on('movestart', () => {
    moved = true;
    clearTimeout(noRequest);
  });
  map.on('moveend', () => {
    clearTimeout(noRequest);
    noRequest = setTimeout(() => {
      if (!visible || !moved) return;
      const { shown, markers } = views.at(-1) ?? NO_COST;
      const cost = { ...current(), shown, markers };
      views = [...views.slice(0, -1), cost];
      draw();
    }, NO_REQUEST_MS);
  });
  const repaint = () => layers.repaint();
  new MutationObserver(repaint).observe(document.documentElement, {
    attributeFilter: ['data-theme', 'class', 'style'],
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);

  return {
    record(answer, shown) {
      if (recorded.has(answer)) return;
      recorded.add(answer);
      const cost = addAnswer(current(), answer, shown);
      views = [...views.slice(0, -1), cost];
      draw();
    },
    setVisible(on) {
      visible = on;
      place.hidden = !on;
      hotKeys.setVisible(on);
      if (on) draw();
      else layers.remove();
    },
  };
}
