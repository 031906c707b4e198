import type { Map as MapLibre } from 'maplibre-gl';

import { button, element } from '../dom/element.js';
import { icon, type IconName } from '../dom/icons.js';
import { SMALL } from '../dom/sheets.js';
import { createMore, type MoreActions } from './more.js';

/** A button that is on or off. */
export interface Toggle {
  readonly element: HTMLButtonElement;
  set(on: boolean): void;
}

function toggle(name: IconName, label: string, onClick: () => void): Toggle {
  const made = action(name, label, onClick);
  const set = (on: boolean) => made.setAttribute('aria-pressed', String(on));
  set(false);
  return { element: made, set };
}

function action(name: IconName, label: string, onClick: () => void): HTMLButtonElement {
  return button({ class: 'icon', 'aria-label': label, title: label }, onClick, icon(name));
}

export interface Tools {
  readonly list: Toggle;
  readonly filter: Toggle;
  readonly edit: Toggle;
  readonly explain: Toggle | undefined;
  /** Offers only what may be done. */
  allow(may: { readonly edit: boolean; readonly explain: boolean }): void;
  /** Sets the current theme; the button offers the other one. */
  setTheme(theme: 'light' | 'dark'): void;
}

export interface ToolActions extends MoreActions {
  readonly onSearch: () => void;
  /** Undefined hides its button. */
  readonly onLocate: (() => void) | undefined;
  readonly onList: () => void;
  readonly onFilter: () => void;
  readonly onEdit: () => void;
  /** Undefined hides the Explain button. */
  readonly onExplain?: () => void;
  readonly onShare: () => void;
  readonly onTheme: () => void;
}

/** The buttons beside the map. */
export function createTools(place: HTMLElement, map: MapLibre, actions: ToolActions): Tools {
  const list = toggle('list', 'List places in view', actions.onList);
  const filter = toggle('filter', 'Filter and color', actions.onFilter);
  const edit = toggle('pencil', 'Edit', actions.onEdit);
  const { onExplain, onLocate } = actions;
  const explain = onExplain && toggle('explain', 'Explain: what this view reads', onExplain);
  const theme = action('moon', 'Dark theme', actions.onTheme);
  const share = action('share', 'Share this view', actions.onShare);
  const changing = [edit.element, ...(explain ? [explain.element] : [])];
  const [opener, menu] = createMore(actions);
  const group = (...content: HTMLElement[]) => element('div', { class: 'panel group' }, ...content);
  const panels = group(list.element, filter.element);
  const others = group(opener, menu);
  place.replaceChildren(
    group(
      action('search', 'Search', actions.onSearch),
      action('plus', 'Zoom in', () => map.zoomIn()),
      action('minus', 'Zoom out', () => map.zoomOut()),
      ...(onLocate ? [action('locate', 'Show your position', onLocate)] : []),
    ),
    panels,
    others,
  );
  // A column of all buttons would cover much of a small map.
  const small = matchMedia(SMALL);
  const arrange = () => {
    if (small.matches) return menu.prepend(...changing, share, theme);
    panels.append(...changing);
    return others.prepend(share, theme);
  };
  small.addEventListener('change', arrange);
  arrange();
  return {
    list,
    filter,
    edit,
    explain,
    allow(may) {
      edit.element.hidden = !may.edit;
      if (explain) explain.element.hidden = !may.explain;
    },
    setTheme(now) {
      const label = now === 'dark' ? 'Light theme' : 'Dark theme';
      theme.replaceChildren(icon(now === 'dark' ? 'sun' : 'moon'));
      theme.setAttribute('aria-label', label);
      theme.title = label;
    },
  };
}
