import type { Map as MapLibre } from 'maplibre-gl';

import { button, element } from './element.js';
import { type IconName, icon } from './icons.js';

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
  readonly edit: Toggle;
  readonly explain: Toggle | undefined;
  /** Sets the current theme; the button offers the other one. */
  setTheme(theme: 'light' | 'dark'): void;
}

export interface ToolActions {
  readonly onList: () => void;
  readonly onEdit: () => void;
  /** Without it there is no Explain button. */
  readonly onExplain?: () => void;
  readonly onTheme: () => void;
}

/** The buttons beside the map. */
export function createTools(place: HTMLElement, map: MapLibre, actions: ToolActions): Tools {
  const list = toggle('list', 'List places in view', actions.onList);
  const edit = toggle('pencil', 'Edit', actions.onEdit);
  const { onExplain } = actions;
  const explain = onExplain && toggle('explain', 'Explain: what this view reads', onExplain);
  const theme = action('moon', 'Dark theme', actions.onTheme);
  const graphiql = element(
    'a',
    { class: 'icon', href: '/graphiql/', 'aria-label': 'GraphiQL', title: 'GraphiQL' },
    icon('code'),
  );
  const group = (...content: HTMLElement[]) => element('div', { class: 'panel group' }, ...content);
  place.replaceChildren(
    group(
      action('plus', 'Zoom in', () => map.zoomIn()),
      action('minus', 'Zoom out', () => map.zoomOut()),
    ),
    group(list.element, edit.element, ...(explain ? [explain.element] : [])),
    group(theme, graphiql),
  );
  return {
    list,
    edit,
    explain,
    setTheme(now) {
      const label = now === 'dark' ? 'Light theme' : 'Dark theme';
      theme.replaceChildren(icon(now === 'dark' ? 'sun' : 'moon'));
      theme.setAttribute('aria-label', label);
      theme.title = label;
    },
  };
}
