import { byId } from '../element.js';
import type { Theme } from '../base-map/palette.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { Seen } from '../seen.js';
import type { FilterPanel } from './filter-panel.js';
import type { Rules } from '../rules/rules.js';

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
  /** Called if a part of the page could not be loaded. */
  readonly onMissing: () => void;
}

/** The panel that sets the layers' rules, and the legend that shows them; each is loaded on first use. */
export function createFilters({ layers, seen, theme, onSet, onOpen, onMissing }: FiltersOptions): Filters {
  const [place, legend] = [byId('filter'), byId('legend')];
  let isOpen = false;
  let panel: FilterPanel | undefined;

  const set = (layer: CollectionLayer, rules: Rules) => {
    layer.setRules(rules);
    update();
    onSet();
  };
  async function drawLegend(): Promise<void> {
    const isNeeded = layers().some(
      ({ heat, rules: { conditions, color, size } }) => heat || conditions.length > 0 || color || size,
    );
    if (!isNeeded && legend.hidden) return;
    const module = await import('./legend.js');
    module.drawLegend(legend, layers(), theme(), set);
  }
  function update(): void {
    for (const layer of layers()) seen.of(layer);
    panel?.update();
    drawLegend().catch(onMissing);
  }
  async function showPanel(): Promise<void> {
    if (isOpen && panel === undefined) {
      const { FilterPanel } = await import('./filter-panel.js');
      panel ??= new FilterPanel({ place, layers, seen, onSet: set, onClose: () => setOpen(false) });
    }
    place.hidden = !isOpen;
    document.body.classList.toggle('with-filter', isOpen);
    panel?.update();
  }
  function setOpen(open: boolean): void {
    isOpen = open;
    onOpen(open);
    showPanel().catch(onMissing);
  }

  return {
    get open() {
      return isOpen;
    },
    setOpen,
    update,
  };
}
