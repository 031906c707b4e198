import { createAlarm } from './alarm.js';
import { ask } from './ask.js';
import { EXPAND, MARKER } from './documents.js';
import type { ClientExpandQuery } from './generated.js';
import { type Live, createLive } from './live.js';
import type { MapCluster, MapMarker, ViewportOptions, ViewportState } from './options.js';
import { type Change, NOTHING, createRegions, createUnion } from './regions.js';
import { ViewportError, send } from './request.js';
import {
  type Bounds,
  type TileKey,
  type TileRect,
  joinTiles,
  levelAt,
  tileBounds,
  tileKeys,
  tilesOver,
} from './tiles.js';

/** Rectangles of one request; what is left follows in the next one. */
const MOST_RECTANGLES = 8;
/** Most counts have followed a change after so many ms; then after twice as many, and twice again. Changes share requests. */
const FIRST_LOOK = 700;
const LAST_LOOK = 2_800;
/** Changes that come within so many ms are drawn together. */
const FRAME = 40;
/** Without live changes, what is older is asked for again when it is shown, in ms. */
const KEEPS_FOR = 60_000;
/** How long the first request waits until changes are followed, in ms. */
const WAITS_FOR_LIVE = 300;
const FIRST_RETRY = 1_000;
const LAST_RETRY = 30_000;
const RETRIED = new Set(['UNAVAILABLE', 'THROTTLED']);

/** What a map shows of one collection, kept up to date. */
export interface Viewport {
  readonly state: ViewportState;
  /** Tells what the map shows now: call it on every move. `zoom` as MapLibre counts it: at 0 the world is 512 px wide. */
  view(bounds: Bounds, zoom: number): void;
  /** Calls the listener after each change of the state, until the function that it returns is called. */
  subscribe(listener: (state: ViewportState) => void): () => void;
  /** Where a cluster falls apart (30 where it never does) and, for a cluster of one, its marker. Rejects with ViewportError. */
  expand(cluster: MapCluster): Promise<{ readonly zoom: number; readonly marker: MapMarker | null }>;
  /** Asks again for all that is shown. */
  refresh(): void;
  /** Ends requests and live changes; the state stays as it is. */
  close(): void;
}

interface View {
  readonly bounds: Bounds;
  readonly zoom: number;
  readonly rect: TileRect;
  readonly keys: readonly TileKey[];
}

interface Request {
  readonly keys: ReadonlySet<TileKey>;
  readonly controller: AbortController;
}

const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/**
 * What a map shows of a collection, in whatever library it is drawn. It asks for the tiles of the geohash grid that it
 * lacks, joined to few rectangles, in one request, once the map stands still; drops requests that the map has left
 * behind; and puts live changes in.
 */
export function createViewport(options: ViewportOptions): Viewport {
  const { url, collection, content = 'auto', padding = 64, debounce = 100, live = true, filter = null } = options;
  const followsChanges = live && content !== 'zones' && typeof WebSocket !== 'undefined';
  const regions = createRegions();
  const united = createUnion();
  const listeners = new Set<(state: ViewportState) => void>();
  const requests = new Set<Request>();
  const alarm = createAlarm(() => void askForLacking());
  const moving = createAlarm(() => void askForLacking());
  const drawing = createAlarm(() => draw());
  let state: ViewportState = { ...NOTHING, loading: false, error: null, answer: null };
  let view: View | undefined;
  let drawnLevel: number | undefined;
  let movingSince: number | undefined;
  let retryIn = FIRST_RETRY;
  let lookIn = FIRST_LOOK;
  let changes: Live | undefined;
  let watched: ReadonlySet<TileKey> = new Set();
  let followedFrom = 0;
  let isClosed = false;

  const publish = (news: Partial<ViewportState>) => {
    if (isClosed) return;
    state = { ...state, loading: requests.size > 0, ...news };
    for (const listener of listeners) listener(state);
  };

  /** Draws what is known of the view. While a new level loads, the one before stays. */
  const draw = (news: Partial<ViewportState> = {}) => {
    if (!view) return;
    const { rect, keys } = view;
    const mayStay = drawnLevel !== undefined && drawnLevel !== rect.level && state.error === null;
    if (mayStay && !keys.every((key) => regions.at(key))) return publish(news);
    drawnLevel = rect.level;
    publish({ ...united(regions.of(keys)), ...news });
  };

  const isLacking = (key: TileKey) => {
    const region = regions.at(key);
    const isKnown = region !== undefined && !region.stale && (followsChanges || Date.now() - region.at < KEEPS_FOR);
    return !isKnown && ![...requests].some(({ keys }) => keys.has(key));
  };

  const onChange = (change: Change) => {
    const met = regions.change(change);
    const shown = new Set(view ? regions.of(view.keys) : []);
    if (!met.some((region) => shown.has(region))) return;
    drawing.within(FRAME);
    if (met.some((region) => shown.has(region) && region.stale)) alarm.within(lookIn);
  };

  /** Follows the changes of what is shown and some more, so that a short way takes no new subscription. */
  const follow = async ({ bounds, zoom, rect }: View) => {
    if (!followsChanges) return;
    const wide = tilesOver(bounds, zoom, padding, Math.max(0, rect.level - 1));
    const keys = tileKeys(wide);
    if (keys.every((key) => watched.has(key))) return;
    // Of what is not watched any more, nothing is known from now on.
    regions.leave(tileBounds(wide));
    watched = new Set(keys);
    changes ??= createLive({
      url,
      collection,
      onChange,
      onFollow() {
        followedFrom = Date.now();
        regions.age(followedFrom);
        alarm.within(0);
      },
    });
    await Promise.race([changes.watch(tileBounds(wide)), sleep(WAITS_FOR_LIVE)]);
  };

  const run = async (asked: View, rects: readonly TileRect[]) => {
    const request: Request = { keys: new Set(rects.flatMap(tileKeys)), controller: new AbortController() };
    requests.add(request);
    publish({});
    let error: ViewportError | null = null;
    try {
      await follow(asked);
      for await (const part of ask(options, rects, asked.keys.length, request.controller.signal)) {
        if (isClosed) return;
        for (const region of part.regions) regions.put(region);
        regions.age(followedFrom);
        error ??= part.error;
        draw({ answer: part.answer });
      }
    } catch (failure) {
      if (!request.controller.signal.aborted) error = failure as ViewportError;
    } finally {
      requests.delete(request);
      draw({ error });
    }
    if (error && RETRIED.has(error.code)) {
      alarm.within(error.retryAfterMs ?? retryIn);
      retryIn = Math.min(2 * retryIn, LAST_RETRY);
    } else if (!error) {
      retryIn = FIRST_RETRY;
    }
    // What went stale on its way, and what did not fit into one request.
    const isStale = regions.of(view?.keys ?? []).some(({ stale }) => stale);
    lookIn = isStale ? Math.min(2 * lookIn, LAST_LOOK) : FIRST_LOOK;
    if (isStale && !error) alarm.within(lookIn);
    if (!error && view && view.keys.some((key) => isLacking(key) && !request.keys.has(key))) alarm.within(0);
  };

  const askForLacking = async () => {
    if (!view || isClosed) return;
    movingSince = undefined;
    const shown = new Set(view.keys);
    for (const { keys, controller } of requests) {
      if (![...keys].some((key) => shown.has(key))) controller.abort();
    }
    const rects = joinTiles(view.rect, isLacking).slice(0, MOST_RECTANGLES);
    if (rects.length > 0) await run(view, rects);
  };

  return {
    get state() {
      return state;
    },
    view(bounds, zoom) {
      const rect = tilesOver(bounds, zoom, padding, levelAt(zoom));
      const before = view;
      view = { bounds, zoom, rect, keys: tileKeys(rect) };
      if (before && before.keys.join() === view.keys.join()) return;
      draw();
      const isSameLevel = before?.rect.level === rect.level;
      movingSince = isSameLevel ? (movingSince ?? Date.now()) : Date.now();
      const standsStillIn = before ? debounce : 0;
      moving.set(Math.max(0, Math.min(standsStillIn, movingSince + 4 * debounce - Date.now())));
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async expand({ bounds, position }) {
      const zoom = view?.rect.level ?? 0;
      const { data, error } = await send(options, EXPAND + MARKER, { bounds, zoom, collection, filter });
      const found = (data as ClientExpandQuery).viewport?.auto;
      if (!found) throw error ?? new ViewportError('the cluster could not be read', 'UNAVAILABLE');
      const distance = (each: { readonly bounds: Bounds }) =>
        Math.hypot(
          (each.bounds.west + each.bounds.east) / 2 - position.lng,
          (each.bounds.south + each.bounds.north) / 2 - position.lat,
        );
      const [nearest] = found.clusters.toSorted((a, b) => distance(a) - distance(b));
      return { zoom: nearest?.expansionZoom ?? 30, marker: found.markers[0] ?? nearest?.marker ?? null };
    },
    refresh() {
      regions.age(Infinity);
      alarm.within(0);
    },
    close() {
      isClosed = true;
      alarm.cancel();
      moving.cancel();
      drawing.cancel();
      for (const { controller } of requests) controller.abort();
      changes?.close();
    },
  };
}
