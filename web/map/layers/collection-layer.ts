import type { Map as MapLibre } from 'maplibre-gl';

import {
  createViewport,
  type Bounds,
  type MapCluster,
  type MapMarker,
  type Viewport,
  type ViewportState,
} from '../../../src/client/public.js';
import type { Collection } from '../api/documents.js';
import { SERVER } from '../api/graphql.js';
import type { Theme } from '../base-map/palette.js';
import type { Sketch } from '../base-map/sketch.js';
import { cellSketches, heatSketches } from '../heat/draw.js';
import { HeatDrawing, type Heat } from '../heat/heat-drawing.js';
import { lengthAt } from '../heat/kernel.js';
import { lookOf } from '../rules/look.js';
import { filterOf, NO_RULES, passes, type Rules } from '../rules/rules.js';
import { changedMarkers, namesOf } from './compare.js';
import { createCrossfade, type Crossfade } from './crossfade.js';
import { styledFeatures } from './features.js';
import { FilterFit } from './filter-fit.js';
import { Optimistic } from './optimistic.js';
import { pointSketches, zoneSketches } from './sketches.js';

/** How a collection is drawn, if at all. */
export type Drawn = 'off' | 'points' | 'heat';

export interface LayerOptions {
  readonly theme: Theme;
  /** Whether changes may be animated by fading. */
  readonly fade: boolean;
  /** Called while loading, and when loading has finished or failed. */
  readonly onState: (state: ViewportState) => void;
  /** Called with the markers on the screen that someone has changed. */
  readonly onChange: (changed: readonly MapMarker[]) => void;
}

type Part = 'points' | 'cells' | 'zones';
interface OpenPart {
  viewport: Viewport;
  readonly fader: Crossfade;
}
const CONTENT = { points: 'auto', cells: 'cells', zones: 'zones' } as const;

/** As many are drawn as themselves, which is the default of `cellport/client`. */
const PLACES_ON_SCREEN = 500;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** One collection on the map: loads its visible content and draws it. Draws nothing until it is turned on. */
export class CollectionLayer {
  /** Its latest name and count. */
  collection: Collection;
  /** Index of its accent color. */
  readonly accent: number;
  readonly #map: MapLibre;
  readonly #options: LayerOptions;
  readonly #parts = new Map<Part, OpenPart>();
  readonly #optimistic = new Optimistic();
  readonly #filterFit = new FilterFit();
  readonly #heat;
  #drawn: Drawn = 'off';
  #theme: Theme;
  #view: readonly [Bounds, number] | undefined;
  #explain = false;
  #isMoving = false;
  #rules = NO_RULES;

  constructor(map: MapLibre, collection: Collection, accent: number, options: LayerOptions) {
    this.collection = collection;
    this.accent = accent;
    this.#map = map;
    this.#options = options;
    this.#theme = options.theme;
    this.#heat = new HeatDrawing(collection.key, () => this.#showScale());
  }

  get drawn(): Drawn {
    return this.#drawn;
  }

  /** The markers and clusters currently drawn. */
  get content(): { readonly markers: readonly MapMarker[]; readonly clusters: readonly MapCluster[] } {
    const { markers = [], clusters = [] } = this.#parts.get('points')?.viewport.state ?? {};
    return { markers: this.#optimistic.over(markers).filter((marker) => passes(marker, this.#rules)), clusters };
  }

  get rules(): Rules {
    return this.#rules;
  }

  /** Whether clusters or cells ignore the current filter, which applies to markers only. */
  get isUnfiltered(): boolean {
    if (this.#rules.conditions.length === 0 || this.#drawn === 'off') return false;
    return this.#drawn === 'heat' || (this.#filterFit.isUnfiltered && this.content.clusters.length > 0);
  }

  /** About the zoom from which all places here are drawn as themselves; undefined if they are. */
  get zoomOfPlaces(): number | undefined {
    const { markers, clusters } = this.content;
    if (!clusters.some(({ count }) => count > 1)) return undefined;
    const total = clusters.reduce((sum, { count }) => sum + count, markers.length);
    const [, zoom = 0] = this.#view ?? [];
    // Each step leaves a quarter of them on the screen.
    return Math.floor(zoom + Math.max(0, Math.log(total / PLACES_ON_SCREEN) / Math.log(4))) + 1;
  }

  /** The heatmap currently drawn, if any. */
  get heat(): Heat | undefined {
    return this.#drawn === 'heat' ? this.#heat.heat : undefined;
  }

  /** Whether something is loading, and the last error. */
  get states(): readonly ViewportState[] {
    return [...this.#parts.values()].map(({ viewport }) => viewport.state);
  }

  /** IDs of the map layers that currently show it. */
  get mapLayers(): readonly string[] {
    return [...this.#parts.values()].flatMap(({ fader }) => fader.layers);
  }

  set(drawn: Drawn): void {
    this.#drawn = drawn;
    const wanted = new Set<Part>();
    if (drawn !== 'off' && this.collection.zones.nodes.length > 0) wanted.add('zones');
    if (drawn !== 'off') wanted.add(drawn === 'heat' ? 'cells' : 'points');
    for (const part of this.#parts.keys()) if (!wanted.has(part)) this.#close(part);
    for (const part of wanted) if (!this.#parts.has(part)) this.#open(part);
  }

  setRules(rules: Rules): void {
    if (same(rules, this.#rules)) return;
    const hasOtherFilter = !same(rules.conditions, this.#rules.conditions);
    this.#rules = rules;
    if (!hasOtherFilter) return this.#redraw();
    this.#filterFit.reset();
    return this.#reconnect();
  }

  view(bounds: Bounds, zoom: number): void {
    this.#view = [bounds, zoom];
    // What appears now was loaded before.
    this.#isMoving = true;
    for (const { viewport } of this.#parts.values()) viewport.view(bounds, zoom);
    this.#isMoving = false;
  }

  /** See `Viewport.expand`. */
  async expand(cluster: MapCluster): Promise<{ readonly zoom: number; readonly marker: MapMarker | null }> {
    return (await this.#parts.get('points')?.viewport.expand(cluster)) ?? { zoom: 30, marker: null };
  }

  /**
   * Draws a marker as given (null hides it) until the server confirms it. Returns a function that undoes this; its
   * result is whether the server had not confirmed it yet.
   */
  drawOptimistically(id: string, marker: MapMarker | null): () => boolean {
    const undo = this.#optimistic.set(id, marker);
    this.#redraw();
    return () => {
      const isUndone = undo();
      if (isUndone) this.#redraw();
      return isUndone;
    };
  }

  setExplain(on: boolean): void {
    if (on === this.#explain) return;
    this.#explain = on;
    const parts = [...this.#parts.keys()];
    for (const part of parts) {
      this.#close(part);
      this.#open(part);
    }
  }

  repaint(theme: Theme): void {
    this.#theme = theme;
    for (const [part, { fader }] of this.#parts) fader.repaint(this.#sketches(part));
    this.#redraw();
  }

  /** Loads everything again; requests without an answer yet only if `anew`, over other connections. */
  refresh(anew = false): void {
    for (const [part, { viewport }] of this.#parts) {
      if (anew && viewport.state.loading) this.#reconnect(part);
      else viewport.refresh();
    }
  }

  #open(part: Part): void {
    const { fade } = this.#options;
    const fader = createCrossfade(this.#map, `${this.collection.key}/${part}`, this.#sketches(part), { fade });
    this.#parts.set(part, { viewport: this.#connect(part, fader), fader });
    this.#look(part);
  }

  /** Starts loading a part. */
  #look(part: Part): void {
    if (this.#view) this.#parts.get(part)?.viewport.view(...this.#view);
  }

  /** Creates a viewport whose content is drawn. */
  #connect(part: Part, fader: Crossfade): Viewport {
    const { onState, onChange } = this.#options;
    const viewport = createViewport({
      ...SERVER,
      collection: this.collection.key,
      content: CONTENT[part],
      explain: this.#explain,
      precision: lengthAt,
      filter: part === 'points' && !this.#filterFit.isUnfiltered ? filterOf(this.#rules) : undefined,
    });
    let last = viewport.state;
    let names = new Set<string>();
    let hasBegun = false;
    viewport.subscribe((state) => {
      hasBegun ||= state.loading;
      if (part === 'points') {
        if (this.#rules.conditions.length > 0 && this.#filterFit.learn(state)) return this.#reconnect();
        this.#optimistic.confirm(state.markers);
        const changed = this.#isMoving ? [] : changedMarkers(last, state);
        if (changed.length > 0) onChange(changed);
      }
      last = state;
      const next = namesOf(state);
      // The old picture stays until the server answers: only it knows whether the new one is empty.
      if (next.size > 0 || (hasBegun && !state.loading && state.error === null)) {
        const areOthers = names.size > 0 && next.size > 0 && ![...names].some((name) => next.has(name));
        names = next;
        if (part === 'points') this.#redraw(areOthers);
        else if (part === 'cells') this.#drawHeat(areOthers);
        else fader.draw(styledFeatures(state), areOthers);
      }
      onState(state);
    });
    return viewport;
  }

  /** Reloads a part; points with or without the filter. The old picture stays until the response arrives. */
  #reconnect(name: Part = 'points'): void {
    const part = this.#parts.get(name);
    if (part === undefined) return;
    part.viewport.close();
    part.viewport = this.#connect(name, part.fader);
    this.#look(name);
  }

  #close(part: Part): void {
    this.#parts.get(part)?.viewport.close();
    this.#parts.get(part)?.fader.remove();
    this.#parts.delete(part);
  }

  #sketches(part: Part): readonly Sketch[] {
    if (part === 'points') return pointSketches(this.accent, this.#theme);
    if (part === 'zones') return zoneSketches(this.accent, this.#theme);
    return (this.#explain ? cellSketches : heatSketches)(this.accent, this.#theme);
  }

  /** Draws the cells once their scale is known; until then, the old picture stays. */
  #drawHeat(areOthers = false): void {
    const { viewport, fader } = this.#parts.get('cells') ?? {};
    const features = this.#heat.featuresOf(viewport?.state.cells ?? [], this.#explain);
    if (features) fader?.draw(features, areOthers);
  }

  #showScale(): void {
    this.#drawHeat();
    const state = this.#parts.get('cells')?.viewport.state;
    if (state) this.#options.onState(state);
  }

  #redraw(areOthers = false): void {
    const features = styledFeatures(this.content, lookOf(this.#rules, this.#theme));
    this.#parts.get('points')?.fader.draw(features, areOthers);
  }
}
