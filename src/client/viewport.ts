import { type ChangeFeed, type MarkerChange, createChangeFeed } from './change-feed.js';
import { EXPAND, MARKER } from './documents.js';
import type { ClientExpandQuery } from './generated.js';
import { loadTiles } from './load-tiles.js';
import type { MapCluster, MapMarker, ViewportOptions, ViewportState } from './options.js';
import { ViewportError, send } from './request.js';
import { EMPTY, createMerge, createTileCache } from './tile-cache.js';
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
import { createTimer } from './timer.js';

const DEFAULT_PADDING = 64;
const DEFAULT_DEBOUNCE = 100;
/** Rectangles per request; the rest follows in the next one. */
const MAX_RECTANGLES = 8;
/** Counts lag behind changes: what is stale is loaded again after this time, then after twice as long, in ms. */
const FIRST_RELOAD = 700;
const LAST_RELOAD = 2_800;
/** Changes that arrive within this time are drawn together, in ms. */
const FRAME = 40;
/** Without live changes, tiles older than this are loaded again when they are shown, in ms. */
const MAX_AGE = 60_000;
/** How long a request waits for the subscription to changes, in ms. */
const FEED_WAIT = 300;
const FIRST_RETRY = 1_000;
const LAST_RETRY = 30_000;
const RETRIED_CODES = new Set(['UNAVAILABLE', 'THROTTLED']);

/** What a map shows of one collection, kept up to date. */
export interface Viewport {
  readonly state: ViewportState;
  /** Sets what the map shows: call it on every move. `zoom` as MapLibre counts it: at 0 the world is 512 px wide. */
  view(bounds: Bounds, zoom: number): void;
  /** Calls the listener after each change of the state. Returns a function that unsubscribes it. */
  subscribe(listener: (state: ViewportState) => void): () => void;
  /**
   * The zoom at which a cluster splits, 30 if it never does, and the marker of a cluster of one. Rejects with
   * ViewportError.
   */
  expand(cluster: MapCluster): Promise<{ readonly zoom: number; readonly marker: MapMarker | null }>;
  /** Loads everything on the screen again. */
  refresh(): void;
  /** Aborts requests and unsubscribes from changes; the state stays as it is. */
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

/** Everything a viewport knows. */
type Core = ReturnType<typeof createCore>;

function createCore(options: ViewportOptions) {
  const { content, live = true, padding = DEFAULT_PADDING } = options;
  const core = {
    options,
    padding,
    followsChanges: live && content !== 'zones' && typeof WebSocket !== 'undefined',
    cache: createTileCache(),
    merge: createMerge(),
    listeners: new Set<(state: ViewportState) => void>(),
    requests: new Set<Request>(),
    loadTimer: createTimer(() => void loadMissing(core)),
    drawTimer: createTimer(() => draw(core)),
    state: { ...EMPTY, loading: false, error: null, answer: null } as ViewportState,
    view: undefined as View | undefined,
    drawnLevel: undefined as number | undefined,
    movingSince: undefined as number | undefined,
    retryIn: FIRST_RETRY,
    reloadIn: FIRST_RELOAD,
    feed: undefined as ChangeFeed | undefined,
    watched: new Set() as ReadonlySet<TileKey>,
    connectedAt: 0,
    isClosed: false,
  };
  return core;
}

function publish(core: Core, update: Partial<ViewportState> = {}): void {
  if (core.isClosed) return;
  core.state = { ...core.state, loading: core.requests.size > 0, ...update };
  for (const listener of core.listeners) listener(core.state);
}

/** Publishes the content of the view. While a new level loads, the previous one stays. */
function draw(core: Core, update: Partial<ViewportState> = {}): void {
  const { cache, view, drawnLevel } = core;
  if (!view) return;
  const keepsLevel = drawnLevel !== undefined && drawnLevel !== view.rect.level && core.state.error === null;
  if (keepsLevel && !view.keys.every((key) => cache.get(key))) return publish(core, update);
  core.drawnLevel = view.rect.level;
  publish(core, { ...core.merge(cache.getAll(view.keys)), ...update });
}

function isMissing({ cache, followsChanges, requests }: Core, key: TileKey): boolean {
  const entry = cache.get(key);
  const isFresh = entry && !entry.stale && (followsChanges || Date.now() - entry.requestedAt < MAX_AGE);
  return !isFresh && ![...requests].some(({ keys }) => keys.has(key));
}

function onChange(core: Core, change: MarkerChange): void {
  const affected = core.cache.apply(change);
  const shown = new Set(core.cache.getAll(core.view?.keys ?? []));
  const visible = affected.filter((entry) => shown.has(entry));
  if (visible.length > 0) core.drawTimer.within(FRAME);
  if (visible.some(({ stale }) => stale)) core.loadTimer.within(core.reloadIn);
}

/** Subscribes to changes of the view and its surroundings, so that a short pan needs no new subscription. */
async function followChanges(core: Core, { bounds, zoom, rect }: View): Promise<void> {
  if (!core.followsChanges) return;
  const wide = tilesOver(bounds, zoom, core.padding, Math.max(0, rect.level - 1));
  const keys = tileKeys(wide);
  if (keys.every((key) => core.watched.has(key))) return;
  core.cache.expireOutside(tileBounds(wide));
  core.watched = new Set(keys);
  core.feed ??= createChangeFeed({
    url: core.options.url,
    collection: core.options.collection,
    onChange: (change) => onChange(core, change),
    onConnect() {
      core.connectedAt = Date.now();
      core.cache.expireBefore(core.connectedAt);
      core.loadTimer.within(0);
    },
  });
  const timeout = new Promise<void>((resolve) => void setTimeout(resolve, FEED_WAIT));
  await Promise.race([core.feed.watch(tileBounds(wide)), timeout]);
}

/** Loads the tiles of the view that are missing, and aborts requests for tiles that are no longer shown. */
async function loadMissing(core: Core): Promise<void> {
  const { view, requests } = core;
  if (!view || core.isClosed) return;
  core.movingSince = undefined;
  const shown = new Set(view.keys);
  for (const { keys, controller } of requests) {
    if (![...keys].some((key) => shown.has(key))) controller.abort();
  }
  const rects = joinTiles(view.rect, (key) => isMissing(core, key)).slice(0, MAX_RECTANGLES);
  if (rects.length === 0) return;
  const request: Request = { keys: new Set(rects.flatMap(tileKeys)), controller: new AbortController() };
  requests.add(request);
  publish(core);
  const error = await load(core, view, rects, request);
  scheduleNext(core, request, error);
}

/** Runs a request. Returns its first error. */
async function load(core: Core, view: View, rects: readonly TileRect[], request: Request) {
  const { cache, options, requests } = core;
  const { signal } = request.controller;
  let error: ViewportError | null = null;
  try {
    await followChanges(core, view);
    for await (const loaded of loadTiles(options, rects, view.keys.length, signal)) {
      if (core.isClosed) return null;
      for (const entry of loaded.entries) cache.put(entry);
      cache.expireBefore(core.connectedAt);
      error ??= loaded.error;
      draw(core, { answer: loaded.answer });
    }
  } catch (failure) {
    if (!signal.aborted) error = failure as ViewportError;
  } finally {
    requests.delete(request);
    draw(core, { error });
  }
  return error;
}

/** Plans what a finished request leaves to do: a retry, what has become stale meanwhile, and what did not fit into it. */
function scheduleNext(core: Core, { keys }: Request, error: ViewportError | null): void {
  const { cache, loadTimer, view } = core;
  if (core.isClosed) return;
  if (error && RETRIED_CODES.has(error.code)) {
    loadTimer.within(error.retryAfterMs ?? core.retryIn);
    core.retryIn = Math.min(2 * core.retryIn, LAST_RETRY);
  } else if (!error) {
    core.retryIn = FIRST_RETRY;
  }
  const isStale = cache.getAll(view?.keys ?? []).some(({ stale }) => stale);
  core.reloadIn = isStale ? Math.min(2 * core.reloadIn, LAST_RELOAD) : FIRST_RELOAD;
  if (isStale && !error) loadTimer.within(core.reloadIn);
  if (!error && view?.keys.some((key) => isMissing(core, key) && !keys.has(key))) loadTimer.within(0);
}

async function expandCluster({ options, view }: Core, { bounds, position }: MapCluster) {
  const { collection, filter = null } = options;
  const zoom = view?.rect.level ?? 0;
  const { data, error } = await send(options, EXPAND + MARKER, { bounds, zoom, collection, filter });
  const found = (data as ClientExpandQuery).viewport?.auto;
  if (!found) throw error ?? new ViewportError('the server returned no content for the cluster', 'UNAVAILABLE');
  const distance = ({ bounds: { west, south, east, north } }: { readonly bounds: Bounds }) =>
    Math.hypot((west + east) / 2 - position.lng, (south + north) / 2 - position.lat);
  const [nearest] = found.clusters.toSorted((a, b) => distance(a) - distance(b));
  return { zoom: nearest?.expansionZoom ?? 30, marker: found.markers[0] ?? nearest?.marker ?? null };
}

/**
 * A viewport for any map library. When the map stands still, it loads the tiles of the geohash grid that it lacks, joined
 * to few rectangles, in one request; it aborts requests that the map has left behind, and applies live changes.
 */
export function createViewport(options: ViewportOptions): Viewport {
  const { debounce = DEFAULT_DEBOUNCE } = options;
  const core = createCore(options);
  const moveTimer = createTimer(() => void loadMissing(core));
  return {
    get state() {
      return core.state;
    },
    view(bounds, zoom) {
      const rect = tilesOver(bounds, zoom, core.padding, levelAt(zoom));
      const before = core.view;
      core.view = { bounds, zoom, rect, keys: tileKeys(rect) };
      if (before && before.keys.join() === core.view.keys.join()) return;
      draw(core);
      if (before?.rect.level !== rect.level) core.movingSince = undefined;
      core.movingSince ??= Date.now();
      // While the map keeps moving, once in four times the debounce.
      const longest = core.movingSince + 4 * debounce - Date.now();
      moveTimer.set(Math.max(0, Math.min(before ? debounce : 0, longest)));
    },
    subscribe(listener) {
      core.listeners.add(listener);
      return () => void core.listeners.delete(listener);
    },
    expand: (cluster) => expandCluster(core, cluster),
    refresh() {
      core.cache.expireBefore(Infinity);
      core.loadTimer.within(0);
    },
    close() {
      core.isClosed = true;
      core.loadTimer.cancel();
      moveTimer.cancel();
      core.drawTimer.cancel();
      for (const { controller } of core.requests) controller.abort();
      core.feed?.close();
    },
  };
}
