import type { Map as MapLibre } from 'maplibre-gl';

import {
  type Bounds,
  type MapCluster,
  type MapMarker,
  type Viewport,
  type ViewportState,
  createViewport,
} from '../../../src/client/public.js';
import type { Theme } from '../base-map/palette.js';
import type { Collection } from '../documents.js';
import { type Crossfade, createCrossfade } from './crossfade.js';
import { cellsOf, pointsOf, zonesOf } from './features.js';
import { cellSketches, pointSketches, zoneSketches } from './paint.js';

/** How a collection is drawn, if at all. */
export type Drawn = 'off' | 'points' | 'heat';

/** What a layer tells the page. */
export interface LayerEvents {
  /** Something is loading, was loaded or failed. */
  onState(state: ViewportState): void;
  /** Somebody changed a marker that is drawn: where to look. */
  onChange(position: MapMarker['position']): void;
}

export interface CollectionLayer {
  readonly collection: Collection;
  readonly accentAt: number;
  readonly drawn: Drawn;
  /** Markers and clusters as they are drawn. */
  readonly content: { readonly markers: readonly MapMarker[]; readonly clusters: readonly MapCluster[] };
  /** Whether something is on its way, and what failed last. */
  readonly states: readonly ViewportState[];
  /** Ids of the layers of the map that show it now. */
  readonly mapLayers: readonly string[];
  set(drawn: Drawn): void;
  view(bounds: Bounds, zoom: number): void;
  /** The zoom at which a cluster of it falls apart, 30 where it never does; and the marker that a cluster of one is. */
  expand(cluster: MapCluster): Promise<{ readonly zoom: number; readonly marker: MapMarker | null }>;
  /**
   * Draws a marker so, or null for not at all, until the server says the same or what it returns is called, which gives
   * whether the server had not.
   */
  pretend(id: string, marker: MapMarker | null): () => boolean;
  setExplain(on: boolean): void;
  repaint(theme: Theme): void;
  refresh(): void;
}

type Part = 'points' | 'cells' | 'zones';
const CONTENT = { points: 'auto', cells: 'cells', zones: 'zones' } as const;
const SKETCHES = { points: pointSketches, cells: cellSketches, zones: zoneSketches } as const;
/** Areas lie below the names of countries, points above all. */
const BELOW: Partial<Record<Part, string>> = { cells: 'country-names', zones: 'country-names' };

const placeOf = ({ lng, lat }: MapMarker['position']) => `${lng},${lat}`;
const sameMarker = (one: MapMarker, other: MapMarker) =>
  placeOf(one.position) === placeOf(other.position) &&
  one.name === other.name &&
  one.category === other.category &&
  JSON.stringify(one.properties) === JSON.stringify(other.properties);

/** What tells one drawing from another: the names of all that is in it. */
function namesOf({ markers, clusters, cells, zones }: ViewportState): Set<string> {
  return new Set([
    ...markers.map(({ id }) => id),
    ...clusters.map(({ position, count }) => `${placeOf(position)} ${count}`),
    ...cells.map(({ geohash }) => geohash),
    ...zones.map(({ id }) => id),
  ]);
}

/** One collection on the map: asks for what is shown, and draws it. Draws nothing until it is set. */
export function createCollectionLayer(
  map: MapLibre,
  collection: Collection,
  accentAt: number,
  theme: Theme,
  { fade, events }: { readonly fade: boolean; readonly events: LayerEvents },
): CollectionLayer {
  const open = new Map<Part, { readonly viewport: Viewport; readonly fader: Crossfade }>();
  const pretended = new Map<string, MapMarker | null>();
  let drawn: Drawn = 'off';
  let current = theme;
  let seen: { readonly bounds: Bounds; readonly zoom: number } | undefined;
  let explain = false;

  const hasZones = collection.zones.nodes.length > 0;
  const wanted = (): readonly Part[] => {
    if (drawn === 'off') return [];
    return [...(hasZones ? (['zones'] as const) : []), drawn === 'heat' ? 'cells' : 'points'];
  };

  function content(): CollectionLayer['content'] {
    const state = open.get('points')?.viewport.state;
    if (state === undefined) return { markers: [], clusters: [] };
    const kept = state.markers.filter(({ id }) => !pretended.has(id));
    const added = [...pretended.values()].filter((marker) => marker !== null);
    return { markers: [...kept, ...added], clusters: state.clusters };
  }

  /** Forgets what is pretended and has come true. */
  function settle(markers: readonly MapMarker[]): void {
    const known = new Map(markers.map((marker) => [marker.id, marker]));
    for (const [id, as] of pretended) {
      const real = known.get(id);
      if (as === null ? real === undefined : real !== undefined && sameMarker(as, real)) pretended.delete(id);
    }
  }

  function tellChanges(before: ViewportState, after: ViewportState): void {
    // What came by a request of our own is no news.
    if (before.loading || after.loading || before.markers.length === 0) return;
    const known = new Map(before.markers.map((marker) => [marker.id, marker]));
    for (const marker of after.markers) {
      const old = known.get(marker.id);
      if (old === undefined || !sameMarker(old, marker)) events.onChange(marker.position);
    }
  }

  const featuresOf = (part: Part, state: ViewportState) =>
    part === 'points' ? pointsOf(content()) : part === 'cells' ? cellsOf(state) : zonesOf(state);

  function openPart(part: Part): void {
    const before = BELOW[part];
    const sketches = SKETCHES[part](accentAt, current);
    const fader = createCrossfade(map, `${collection.key}/${part}`, sketches, { fade, ...(before && { before }) });
    const viewport = createViewport({ url: '/graphql', collection: collection.key, content: CONTENT[part], explain });
    open.set(part, { viewport, fader });
    let last = viewport.state;
    let names = new Set<string>();
    viewport.subscribe((state) => {
      if (part === 'points') {
        settle(state.markers);
        tellChanges(last, state);
      }
      last = state;
      const next = namesOf(state);
      // What was asked for and is not there yet leaves the old picture: empty is only what the server says is.
      if (next.size > 0 || !state.loading) {
        const areOthers = names.size > 0 && next.size > 0 && ![...names].some((name) => next.has(name));
        names = next;
        fader.draw(featuresOf(part, state), areOthers);
      }
      events.onState(state);
    });
    if (seen) viewport.view(seen.bounds, seen.zoom);
  }

  function closePart(part: Part): void {
    open.get(part)?.viewport.close();
    open.get(part)?.fader.remove();
    open.delete(part);
  }

  function redraw(): void {
    const points = open.get('points');
    if (points) points.fader.draw(pointsOf(content()), false);
  }

  const layer: CollectionLayer = {
    collection,
    accentAt,
    get drawn() {
      return drawn;
    },
    get content() {
      return content();
    },
    get states() {
      return [...open.values()].map(({ viewport }) => viewport.state);
    },
    get mapLayers() {
      return [...open.values()].flatMap(({ fader }) => fader.layers);
    },
    set(next) {
      drawn = next;
      const parts = wanted();
      for (const part of open.keys()) if (!parts.includes(part)) closePart(part);
      for (const part of parts) if (!open.has(part)) openPart(part);
    },
    view(bounds, zoom) {
      seen = { bounds, zoom };
      for (const { viewport } of open.values()) viewport.view(bounds, zoom);
    },
    async expand(cluster) {
      return (await open.get('points')?.viewport.expand(cluster)) ?? { zoom: 30, marker: null };
    },
    pretend(id, marker) {
      pretended.set(id, marker);
      redraw();
      return () => {
        if (!pretended.has(id) || pretended.get(id) !== marker) return false;
        pretended.delete(id);
        redraw();
        return true;
      };
    },
    setExplain(on) {
      if (on === explain) return;
      explain = on;
      const parts = [...open.keys()];
      parts.forEach(closePart);
      parts.forEach(openPart);
    },
    repaint(next) {
      current = next;
      for (const [part, { fader }] of open) fader.repaint(SKETCHES[part](accentAt, current));
    },
    refresh() {
      for (const { viewport } of open.values()) viewport.refresh();
    },
  };
  return layer;
}
