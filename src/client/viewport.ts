import { systemClock } from '../clock.js';
import { backoffMs } from '../retry.js';
import { ChangeFeed, type MarkerChange } from './change-feed.js';
import { EXPAND_QUERY } from './documents.js';
import type { ClientExpandQuery } from './generated.js';
import { loadTiles } from './load-tiles.js';
import type { MapCluster, MapMarker, ViewportOptions, ViewportState } from './options.js';
import { isPassing, isRefusal, RETRIES, send, ViewportError } from './request.js';
import { COUNTS_LAG, createMerge, EMPTY, TileCache } from './tile-cache.js';
import {
  joinTiles,
  levelAt,
  tileBounds,
  tileKeys,
  tilesOver,
  type Bounds,
  type TileKey,
  type TileRect,
} from './tiles.js';
import { Timer } from './timer.js';

const DEFAULT_PADDING = 64;
const DEFAULT_DEBOUNCE = 100;
/** Maximum rectangles per request; the rest follow in the next one. */
export const MAX_RECTANGLES = 8;
/** Counts lag behind changes, so stale content is reloaded after this delay, then after twice as long, in ms. */
const FIRST_RELOAD = 700;
const LAST_RELOAD = 2_800;
/** Changes that arrive within this time are drawn together, in ms. */
const FRAME = 40;
/** Without live changes, tiles older than this are loaded again when they are shown, in ms. */
const MAX_AGE = 60_000;
/** How long a request waits for the subscription to changes, in ms. */
const FEED_WAIT = 300;
/** The copy of the world that is drawn moves in such steps, in degrees: views of up to 300 degrees are inside it. */
const COPY = 30;

/** What a map shows of one collection, kept up to date. */
export interface Viewport {
  readonly state: ViewportState;
  /** Sets the map's view; call it on every move. `zoom` is that of MapLibre: at 0 the world is 512 px wide. */
  view(bounds: Bounds, zoom: number): void;
  /** Calls the listener after each change of the state. Returns a function that unsubscribes it. */
  subscribe(listener: (state: ViewportState) => void): () => void;
  /**
   * The zoom at which a cluster splits, 30 if it never does, and the marker if it is a cluster of one. Rejects with
   * ViewportError.
   */
  expand(cluster: MapCluster): Promise<{ readonly zoom: number; readonly marker: MapMarker | null }>;
  /** Reloads everything on the screen. */
  refresh(): void;
  /** Aborts requests and unsubscribes from changes; the state remains. `view` opens the viewport again. */
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

/** A viewport. Its public methods are properties, so that they can be passed as callbacks. */
class TiledViewport implements Viewport {
  readonly #options: ViewportOptions;
  readonly #padding: number;
  readonly #followsChanges: boolean;
  readonly #cache = new TileCache();
  readonly #merge = createMerge();
  readonly #listeners = new Set<(state: ViewportState) => void>();
  readonly #requests = new Set<Request>();
  readonly #moveTimer = new Timer(() => void this.#loadMissing());
  readonly #loadTimer = new Timer(() => void this.#loadMissing());
  readonly #drawTimer = new Timer(() => this.#draw());
  #state: ViewportState = { ...EMPTY, loading: false, error: null, answer: null };
  #view: View | undefined;
  /** Where the copy of the world begins to which content is moved; undefined if it is not. */
  #west: number | undefined;
  #drawnLevel: number | undefined;
  #movingSince: number | undefined;
  /** Requests that failed in a row. */
  #failures = 0;
  #reloadIn = FIRST_RELOAD;
  #feed: ChangeFeed | undefined;
  #watched: ReadonlySet<TileKey> = new Set();
  /** Responses to requests before this time may lack changes that will not arrive any more. */
  #completeFrom = 0;
  #isClosed = false;

  constructor(options: ViewportOptions) {
    const { content, live = true, padding = DEFAULT_PADDING } = options;
    this.#options = options;
    this.#padding = padding;
    this.#followsChanges = live && content !== 'zones' && typeof WebSocket !== 'undefined';
  }

  get state(): ViewportState {
    return this.#state;
  }

  readonly view: Viewport['view'] = (bounds, zoom) => {
    const { debounce = DEFAULT_DEBOUNCE } = this.#options;
    const rect = tilesOver(bounds, zoom, this.#padding, levelAt(zoom));
    const keys = tileKeys(rect);
    const before = this.#view;
    const westBefore = this.#west;
    if (this.#options.unwrap === true) this.#west = COPY * Math.floor(((bounds.west + bounds.east) / 2 - 180) / COPY);
    this.#view = { bounds, zoom, rect, keys };
    this.#isClosed = false;
    const isSame = before?.keys.join() === keys.join();
    if (!isSame || this.#west !== westBefore) this.#draw();
    if (isSame) return;
    if (before?.rect.level !== rect.level) this.#movingSince = undefined;
    this.#movingSince ??= systemClock.wall();
    // While the map keeps moving, once per four times the debounce.
    const longest = this.#movingSince + 4 * debounce - systemClock.wall();
    this.#moveTimer.set(Math.max(0, Math.min(before ? debounce : 0, longest)));
  };

  readonly subscribe: Viewport['subscribe'] = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly expand: Viewport['expand'] = async ({ bounds, geohashes }) => {
    const { collection, filter = null } = this.#options;
    const zoom = this.#view?.rect.level ?? 0;
    const { data, error } = await send(this.#options, EXPAND_QUERY, { bounds, zoom, collection, filter });
    const found = (data as ClientExpandQuery).viewport?.auto;
    if (!found) throw error ?? new ViewportError('the server returned no content for the cluster', 'UNAVAILABLE');
    // It may have changed meanwhile, and others may overlap its bounds.
    const same = found.clusters.find((each) => each.geohashes.some((geohash) => geohashes.includes(geohash)));
    return { zoom: same?.expansionZoom ?? 30, marker: found.markers[0] ?? same?.marker ?? null };
  };

  readonly refresh: Viewport['refresh'] = () => {
    this.#completeFrom = systemClock.wall();
    this.#cache.expireBefore(Infinity);
    this.#loadTimer.within(0);
  };

  readonly close: Viewport['close'] = () => {
    this.#isClosed = true;
    this.#state = { ...this.#state, loading: false };
    this.#view = undefined;
    // Changes will be missed.
    this.#cache.expireBefore(Infinity);
    for (const timer of [this.#loadTimer, this.#moveTimer, this.#drawTimer]) timer.cancel();
    for (const { controller } of this.#requests) controller.abort();
    this.#requests.clear();
    this.#stopFeed();
  };

  #stopFeed(): void {
    this.#feed?.close();
    this.#feed = undefined;
    this.#watched = new Set();
  }

  #publish(update: Partial<ViewportState> = {}): void {
    if (this.#isClosed) return;
    this.#state = { ...this.#state, loading: this.#requests.size > 0, ...update };
    for (const listener of this.#listeners) listener(this.#state);
  }

  /** Publishes the content of the view. While a new level loads, the previous one stays. */
  #draw(update: Partial<ViewportState> = {}): void {
    if (!this.#view) return;
    const { rect, keys } = this.#view;
    const isNewLevel = this.#drawnLevel !== undefined && this.#drawnLevel !== rect.level;
    const keepsLevel = isNewLevel && this.#state.error === null;
    if (keepsLevel && !keys.every((key) => this.#cache.get(key))) return this.#publish(update);
    this.#drawnLevel = rect.level;
    this.#publish({ ...this.#merge(this.#cache.getAll(keys), this.#west), ...update });
  }

  #isMissing(key: TileKey): boolean {
    const entry = this.#cache.get(key);
    const isFresh =
      entry && !entry.stale && (this.#followsChanges || Math.abs(systemClock.wall() - entry.requestedAt) < MAX_AGE);
    const isLoading = ({ keys, controller }: Request) => keys.has(key) && !controller.signal.aborted;
    return !isFresh && ![...this.#requests].some(isLoading);
  }

  #onChange(change: MarkerChange): void {
    const affected = this.#cache.apply(change);
    const shown = new Set(this.#cache.getAll(this.#view?.keys ?? []));
    const visible = affected.filter((entry) => shown.has(entry));
    if (visible.length > 0) this.#drawTimer.within(FRAME);
    if (visible.some(({ stale }) => stale)) this.#loadTimer.within(this.#reloadIn);
  }

  /** Subscribes to changes of a view and its surroundings, so that a short pan needs no new subscription. */
  async #followChanges({ bounds, zoom, rect }: View): Promise<void> {
    if (!this.#followsChanges) return;
    const wide = tilesOver(bounds, zoom, this.#padding, Math.max(0, rect.level - 1));
    const keys = tileKeys(wide);
    if (keys.every((key) => this.#watched.has(key))) return;
    this.#cache.expireOutside(tileBounds(wide));
    this.#watched = new Set(keys);
    this.#feed ??= new ChangeFeed(this.#options, {
      onFailure: (error) => {
        if (!isRefusal(error)) return;
        this.#stopFeed();
        this.#publish({ error });
      },
      onChange: (change) => this.#onChange(change),
      onConnect: (completeFrom) => {
        this.#cache.seen.clear();
        this.#completeFrom = Math.max(this.#completeFrom, Math.min(completeFrom + COUNTS_LAG, systemClock.wall()));
        this.#cache.expireBefore(this.#completeFrom);
        this.#loadTimer.within(0);
      },
    });
    const timeout = new Promise<void>((resolve) => void setTimeout(resolve, FEED_WAIT));
    await Promise.race([this.#feed.watch(tileBounds(wide)), timeout]);
  }

  /** Loads missing tiles of the view, and aborts requests for tiles that are no longer shown. */
  async #loadMissing(): Promise<void> {
    const view = this.#view;
    if (!view || this.#isClosed) return;
    this.#movingSince = undefined;
    const shown = new Set(view.keys);
    for (const { keys, controller } of this.#requests) {
      if (![...keys].some((key) => shown.has(key))) controller.abort();
    }
    const rects = joinTiles(view.rect, (key) => this.#isMissing(key)).slice(0, MAX_RECTANGLES);
    if (rects.length === 0) return;
    const request: Request = { keys: new Set(rects.flatMap(tileKeys)), controller: new AbortController() };
    this.#requests.add(request);
    this.#publish();
    const error = await this.#load(view, rects, request);
    if (!this.#isClosed) this.#scheduleNext(request, error);
  }

  /** Runs a request; returns its first error. */
  async #load(view: View, rects: readonly TileRect[], request: Request): Promise<ViewportError | null> {
    const { signal } = request.controller;
    let error: ViewportError | null = null;
    try {
      await this.#followChanges(view);
      for await (const loaded of loadTiles(this.#options, rects, view.keys.length, signal)) {
        if (this.#isClosed) return null;
        for (const entry of loaded.entries) this.#cache.put(entry);
        this.#cache.expireBefore(this.#completeFrom);
        error ??= loaded.error;
        this.#draw({ answer: loaded.answer });
      }
    } catch (failure) {
      if (!signal.aborted) error = failure as ViewportError;
    } finally {
      this.#requests.delete(request);
      this.#draw({ error });
    }
    return error;
  }

  /** Schedules the follow-up of a request: a retry, reloading stale tiles, or tiles that did not fit into it. */
  #scheduleNext(request: Request, error: ViewportError | null): void {
    const keys = this.#view?.keys ?? [];
    if (error) {
      if (isRefusal(error)) this.#stopFeed();
      if (!isPassing(error)) return;
      this.#loadTimer.within(error.retryAfterMs ?? backoffMs(this.#failures, RETRIES));
      this.#failures += 1;
      return;
    }
    this.#failures = 0;
    const isStale = this.#cache.getAll(keys).some(({ stale }) => stale);
    this.#reloadIn = isStale ? Math.min(2 * this.#reloadIn, LAST_RELOAD) : FIRST_RELOAD;
    if (isStale) this.#loadTimer.within(this.#reloadIn);
    if (keys.some((key) => this.#isMissing(key) && !request.keys.has(key))) this.#loadTimer.within(0);
  }
}

/**
 * Creates a viewport for any map library. When the map is still, it loads missing tiles of the geohash grid, joined to
 * few rectangles, in one request; it aborts requests for tiles that are no longer shown, and applies live changes.
 */
export function createViewport(options: ViewportOptions): Viewport {
  return new TiledViewport(options);
}
