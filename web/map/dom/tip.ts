import type { Map as MapLibre, Point } from 'maplibre-gl';

import { element } from './element.js';

/** Distance between the pointer and its tip, in px. */
const GAP = 14;

/** A line of text beside the pointer. */
export interface Tip {
  show(at: Point, text: string): void;
  hide(): void;
}

export function createTip(map: MapLibre): Tip {
  const tip = element('div', { id: 'tip', class: 'panel', hidden: '' });
  document.body.append(tip);
  const hide = () => void (tip.hidden = true);
  map.on('movestart', hide);
  map.on('mouseout', hide);
  return {
    hide,
    show({ x, y }, text) {
      tip.textContent = text;
      tip.hidden = false;
      // On the side with enough room.
      const { clientWidth: width, clientHeight: height } = map.getContainer();
      const left = x + GAP + tip.offsetWidth < width ? x + GAP : x - GAP - tip.offsetWidth;
      const top = y + GAP + tip.offsetHeight < height ? y + GAP : y - GAP - tip.offsetHeight;
      tip.style.translate = `${Math.max(0, left)}px ${Math.max(0, top)}px`;
    },
  };
}
