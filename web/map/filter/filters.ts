import type { Theme } from '../base-map/palette.js';
import { byId } from '../dom/element.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { Rules } from '../rules/rules.js';
import type { Seen } from '../view/seen.js';
import { FilterPanel } from './filter-panel.js';
import { drawLegend } from './legend.js';

export interface Filters {
  /** Whether the panel is open. */
  readonly open: boolean;
  setOpen(open: boolean): void;
  /** Call after changes to the layers, the view's content or the theme. */
  update(): void;
}

export interface FiltersOptions {
  readonly layers: () => readonly CollectionLayer[];
  readonly seen: Seen;
  readonly theme: () => Theme;
  /** Called when the user has changed the rules of a layer. */
  readonly onSet: () => void;
  readonly onOpen: (open: boolean) => void;
}

/** The panel that sets the layers' rules, and the legend that shows them. */
export function createFilters({ layers, seen, theme, onSet, onOpen }: FiltersOptions): Filters {
  const [place, legend] = [byId('filter'), byId('legend')];
  const set = (layer: CollectionLayer, rules: Rules) => {
    layer.setRules(rules);
    update();
    onSet();
  };
  const panel = new FilterPanel({ place, layers, seen, onSet: set, onClose: () => setOpen(false) });

  function update(): void {
    for (const layer of layers()) seen.of(layer);
    panel.update();
    drawLegend(legend, layers(), theme(), set);
  }
  function setOpen(open: boolean): void {
    place.hidden = !open;
    document.body.classList.toggle('with-filter', open);
    onOpen(open);
    panel.update();
  }

  return {
    get open() {
      return !place.hidden;
    },
    setOpen,
    update,
  };
}
