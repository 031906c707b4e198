import type { Map as MapLibre } from 'maplibre-gl';

const STEP = 120;
const MOVES: Readonly<Record<string, (map: MapLibre) => void>> = {
  ArrowLeft: (map) => void map.panBy([-STEP, 0]),
  ArrowRight: (map) => void map.panBy([STEP, 0]),
  ArrowUp: (map) => void map.panBy([0, -STEP]),
  ArrowDown: (map) => void map.panBy([0, STEP]),
  '+': (map) => void map.zoomIn(),
  '=': (map) => void map.zoomIn(),
  '-': (map) => void map.zoomOut(),
};

export interface KeyActions {
  /** Escape. */
  readonly close: () => void;
  /** `/` */
  readonly search: () => void;
  /** `?` */
  readonly help: () => void;
}

const isTyping = (target: EventTarget | null) => target instanceof Element && target.matches('input, select, textarea');

/**
 * Keyboard control of the page: arrow keys, + and - move the map while no element has the focus (if the map has it,
 * MapLibre does this itself).
 */
export function followKeys(map: MapLibre, { close, search, help }: KeyActions): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    // These elements close themselves.
    if (document.querySelector(':popover-open, dialog[open]')) return;
    if (event.key === 'Escape') return close();
    const open = { '/': search, '?': help }[event.key];
    if (open && !isTyping(event.target)) {
      event.preventDefault();
      return open();
    }
    if (event.target === document.body) MOVES[event.key]?.(map);
  });
}
