import { byId } from './element.js';
import { icon } from './icons.js';

/** A panel that becomes a sheet at the bottom of a small screen, which has room for only one. */
export interface Sheet {
  readonly open: boolean;
  close(): void;
}

/** A panel of the page as a sheet. */
export function sheetOf(panel: HTMLElement, close: () => void): Sheet {
  return {
    get open() {
      return !panel.hidden;
    },
    close,
  };
}

/** Maximum width at which panels are sheets, as in chrome.css. */
export const SMALL = '(max-width: 720px)';

/** Keeps one sheet open at a time on a small screen. Returns a function to call when a sheet has been opened. */
export function keepOneSheet(sheets: readonly Sheet[]): (opened?: Sheet) => void {
  const small = matchMedia(SMALL);
  const settle = (opened?: Sheet) => {
    if (!small.matches) return;
    const kept = opened ?? sheets.find(({ open }) => open);
    for (const each of sheets) if (each !== kept && each.open) each.close();
  };
  small.addEventListener('change', () => settle());
  return settle;
}

/** The list of layers: opened by a button on a small screen, always visible on others. */
export function createLayersSheet(onOpen: (sheet: Sheet) => void): Sheet {
  const toggle = byId('layers-toggle');
  const set = (open: boolean) => {
    document.body.classList.toggle('with-layers', open);
    toggle.setAttribute('aria-expanded', String(open));
    if (open) onOpen(sheet);
  };
  const sheet = {
    get open() {
      return document.body.classList.contains('with-layers');
    },
    close: () => set(false),
  };
  toggle.append(icon('layers'));
  toggle.setAttribute('aria-label', 'Layers');
  toggle.addEventListener('click', () => set(!sheet.open));
  return sheet;
}
