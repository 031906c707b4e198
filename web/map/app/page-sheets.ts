import { byId } from '../dom/element.js';
import { createLayersSheet, keepOneSheet, sheetOf, type Sheet } from '../dom/sheets.js';
import type { EditMode } from '../edit/edit-mode.js';
import type { Filters } from '../filter/filters.js';
import type { Selection } from '../panel/selection.js';

export interface PageSheetsOptions {
  readonly importing: Sheet;
  readonly selection: Selection;
  readonly filters: Filters;
  readonly edit: EditMode;
  readonly showPlaces: (on: boolean) => void;
  readonly showExplain: (on: boolean) => void;
}

type Name = 'importing' | 'card' | 'layers' | 'filter' | 'places' | 'explain';

/** Manages the open sheets: on a small screen, one at a time. */
export interface PageSheets {
  /** Closes the other sheets if this one is open. */
  keep(name: Name): void;
  /** Closes the topmost of the sheets, edit mode and Explain. */
  closeTopmost(): void;
}

/** The page's sheets, topmost first. */
export function createPageSheets(options: PageSheetsOptions): PageSheets {
  const { importing, selection, filters, edit, showPlaces, showExplain } = options;
  const filter: Sheet = {
    get open() {
      return filters.open;
    },
    close: () => filters.setOpen(false),
  };
  const sheets: Readonly<Record<Name, Sheet>> = {
    importing,
    card: sheetOf(byId('card'), () => selection.show(undefined)),
    layers: createLayersSheet((opened) => keepOne(opened)),
    filter,
    places: sheetOf(byId('places'), () => showPlaces(false)),
    explain: sheetOf(byId('explain'), () => showExplain(false)),
  };
  const keepOne = keepOneSheet(Object.values(sheets));
  return {
    keep(name) {
      if (sheets[name].open) keepOne(sheets[name]);
    },
    closeTopmost() {
      const { explain, ...above } = sheets;
      const topmost = Object.values(above).find(({ open }) => open);
      if (topmost) topmost.close();
      else if (edit.on) edit.set(false);
      else if (explain.open) explain.close();
    },
  };
}
