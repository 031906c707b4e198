import './style.css';

import type { Map as MapLibre } from 'maplibre-gl';

import type { Answer } from '../../../src/client/public.js';
import { REMEMBERED } from './history.js';
import { NOTHING, type Pan, type Shape, added, shapesOf } from './pan.js';
import { createPanel } from './panel.js';
import { type Colours, createRangeLayers } from './range-layers.js';

/** What views read, drawn on their map and told in a panel. */
export interface Explain {
  /** Takes in an answer of `explain: true`, once however often it is handed over; `shown` is how many things the map shows with it, of all its layers. */
  record(answer: Answer, shown: number): void;
  setVisible(on: boolean): void;
}

/** So long after a move, nothing was asked: a map asks a tenth of a second after it stands still, and answers take a while. */
const QUIET_MS = 900;
/** Answers that come so much later without a move tell of something that changed. */
const SAME_VIEW_MS = 2_000;

function coloursOf(place: HTMLElement): Colours {
  const style = getComputedStyle(place);
  const colour = (name: string) => style.getPropertyValue(`--explain-${name}`).trim();
  return { read: colour('read'), cached: colour('cached'), asked: colour('asked'), halo: colour('halo') };
}

/** Explains a map, whose style is loaded, in an element of the page. Nothing is shown until it is told to be. */
export function createExplain(map: MapLibre, place: HTMLElement): Explain {
  /** A viewport tells its answer with each change of its state. */
  const known = new WeakSet<Answer>();
  let pans: readonly Pan[] = [];
  let shapes: readonly Shape[] = [];
  let visible = false;
  let moved = true;
  let recordedAt = 0;
  let quiet: ReturnType<typeof setTimeout> | undefined;

  const panel = createPanel(place, (at) => {
    const shape = at === undefined ? undefined : shapes.find(({ reads }) => reads.includes(at));
    layers.highlight(shape?.id);
    panel.mark(at === undefined ? [] : (shape?.reads ?? [at]), false);
  });
  const layers = createRangeLayers(
    map,
    () => coloursOf(place),
    (id) => {
      layers.highlight(id);
      panel.mark(shapes.find((shape) => shape.id === id)?.reads ?? [], true);
    },
  );

  function draw(): void {
    const pan = pans.at(-1);
    if (!visible || !pan) return;
    shapes = shapesOf(pan.reads);
    layers.draw(shapes, pan.regions);
    panel.show(pans);
  }

  /** The view as it is now: the last one, or a new one where the map has moved. */
  function current(): Pan {
    const now = performance.now();
    const isNew = moved || now - recordedAt > SAME_VIEW_MS;
    moved = false;
    recordedAt = now;
    if (isNew) pans = [...pans, NOTHING].slice(-REMEMBERED);
    return pans.at(-1) ?? NOTHING;
  }

  map.on('movestart', () => {
    moved = true;
    clearTimeout(quiet);
  });
  map.on('moveend', () => {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      if (!visible || !moved) return;
      const { shown } = pans.at(-1) ?? NOTHING;
      const pan = { ...current(), shown };
      pans = [...pans.slice(0, -1), pan];
      draw();
    }, QUIET_MS);
  });
  const repaint = () => layers.repaint();
  new MutationObserver(repaint).observe(document.documentElement, {
    attributeFilter: ['data-theme', 'class', 'style'],
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);

  return {
    record(answer, shown) {
      if (known.has(answer)) return;
      known.add(answer);
      const pan = added(current(), answer, shown);
      pans = [...pans.slice(0, -1), pan];
      draw();
    },
    setVisible(on) {
      visible = on;
      place.hidden = !on;
      if (on) draw();
      else layers.remove();
    },
  };
}
