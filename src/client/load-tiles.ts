import { systemClock } from '../clock.js';
import { viewportDocument } from './documents.js';
import type { ClientAutoFragment, ClientMarkersFragment, ClientZonesFragment } from './generated.js';
import type { Answer, MapCell, TileContent, ViewportOptions } from './options.js';
import { send, type ViewportError } from './request.js';
import { EMPTY, type TileEntry } from './tile-cache.js';
import { tileBounds, tileKeys, type TileRect } from './tiles.js';

const MARKERS_ON_SCREEN = 500;
const PART_SIZE = { markers: 1_000, zones: 300 };

/** The size of a pixel in degrees, as the detail of outlines. */
const toleranceAt = (level: number) => 360 / (512 * 2 ** level);

/** The content of one response. */
export interface LoadedTiles {
  /** Includes the content of all parts loaded so far. */
  readonly entries: readonly TileEntry[];
  readonly error: ViewportError | null;
  readonly answer: Answer;
}

/** A part of a rectangle's content, and the cursor of the next one. */
function readPart(
  content: object,
  kind: 'markers' | 'zones',
): {
  readonly content: TileContent;
  readonly isByMarker: boolean;
  readonly next: string | null;
} {
  if (Array.isArray(content)) {
    return { content: { ...EMPTY, cells: content as readonly MapCell[] }, isByMarker: false, next: null };
  }
  if ('mode' in content) {
    const { mode, markers, clusters } = content as ClientAutoFragment;
    return { content: { ...EMPTY, markers, clusters }, isByMarker: mode === 'MARKERS', next: null };
  }
  const { nodes, pageInfo } = content as ClientMarkersFragment | ClientZonesFragment;
  const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  return { content: { ...EMPTY, [kind]: nodes }, isByMarker: kind === 'markers', next };
}

/**
 * Loads rectangles of tiles in one request, then their next parts until the last; yields each response as it arrives.
 * `screenTiles` is the number of tiles that the map shows: the limit for the screen is divided among them.
 */
export async function* loadTiles(
  options: ViewportOptions,
  rects: readonly TileRect[],
  screenTiles: number,
  signal: AbortSignal,
): AsyncGenerator<LoadedTiles> {
  const { collection, content = 'auto', filter = null } = options;
  const limitOf = (rect: TileRect) => {
    if (content === 'zones' || content === 'markers') return options.limit ?? PART_SIZE[content];
    return Math.ceil(((options.limit ?? MARKERS_ON_SCREEN) * tileKeys(rect).length) / screenTiles);
  };
  const level = rects[0]?.level ?? 0;
  const requestedAt = systemClock.wall();
  let pending = rects.map((rect) => ({ rect, after: null as string | null, loaded: EMPTY }));
  while (pending.length > 0) {
    const sentAt = systemClock.wall();
    const [tolerance, precision] = [toleranceAt(level), options.precision?.(level)];
    const variables: Record<string, unknown> = { collection, zoom: level, filter, tolerance, precision };
    const bounds = pending.map(({ rect }) => tileBounds(rect));
    for (const [index, { rect, after }] of pending.entries()) {
      variables[`bounds${index}`] = bounds[index];
      variables[`limit${index}`] = limitOf(rect);
      variables[`after${index}`] = after;
    }
    const reply = await send(options, viewportDocument(content, pending.length), variables, signal);
    const data = reply.data as Readonly<Record<string, { readonly content: object | null } | null>>;
    const entries: TileEntry[] = [];
    const next: typeof pending = [];
    for (const [index, { rect, loaded }] of pending.entries()) {
      const found = data[`r${index}`]?.content;
      if (!found) continue;
      const part = readPart(found, content === 'zones' ? content : 'markers');
      const all: TileContent = {
        ...part.content,
        markers: [...loaded.markers, ...part.content.markers],
        zones: [...loaded.zones, ...part.content.zones],
      };
      // Only the server knows whether a changed marker matches a filter.
      const maxMarkers = !part.isByMarker || filter !== null ? 0 : content === 'auto' ? limitOf(rect) : Infinity;
      // Until its last part is here, in case that never arrives.
      const stale = part.next !== null;
      // What was drawn before stays until it is known that there is nothing.
      if (!stale || (all.markers[0] ?? all.zones[0]))
        entries.push({ rect, keys: tileKeys(rect), requestedAt, content: all, maxMarkers, stale });
      if (part.next !== null) next.push({ rect, after: part.next, loaded: all });
    }
    const { error, cost, reads, readsLeftOut, pages } = reply;
    yield {
      entries,
      error,
      answer: { regions: bounds, ms: systemClock.wall() - sentAt, cost, reads, readsLeftOut, pages },
    };
    pending = next;
  }
}
