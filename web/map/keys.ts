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

/**
 * Keyboard control of the page: arrow keys, + and - move the map while nothing has the focus (if the map has it, MapLibre
 * does this itself); Escape calls `close`.
 */
export function followKeys(map: MapLibre, close: () => void): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return close();
    if (event.target !== document.body) return;
    MOVES[event.key]?.(map);
  });
}
