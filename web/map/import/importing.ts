import { isAsked } from '../../access/viewer.js';
import { currentViewer, mayCreate, mayWrite } from '../api/permissions.js';
import { byId, element } from '../dom/element.js';
import type { Sheet } from '../dom/sheets.js';
import { drawFirstScreen, drawNothingScreen } from './first-screen.js';
import { createImportPanel, type ImportOptions } from './import-panel.js';

/** File extensions accepted by the file dialog. */
const ACCEPTED = '.geojson,.json,.csv,.tsv,.ndjson,.jsonl,.geojsonl,.geojsons';

export interface Importing extends Sheet {
  /** Opens the file dialog. */
  choose(): void;
  newCollection(): void;
  /** Shows or hides the screen of a server without collections. */
  setFirstScreen(on: boolean): void;
}

export interface ImportingOptions extends Omit<ImportOptions, 'place' | 'onClose'> {
  readonly onOpen: () => void;
}

const hasFiles = ({ dataTransfer }: DragEvent) => mayWrite() && dataTransfer?.types.includes('Files') === true;

/** Calls `onFile` with a file dropped anywhere on the page, and highlights the drop target. */
function followDrops(onFile: (file: File) => void): void {
  const target = byId('drop');
  let depth = 0;
  const over = (by: number) => {
    depth = Math.max(0, depth + by);
    target.hidden = depth === 0;
  };
  document.addEventListener('dragenter', (event) => hasFiles(event) && over(1));
  document.addEventListener('dragleave', (event) => hasFiles(event) && over(-1));
  document.addEventListener('dragover', (event) => {
    // Otherwise the browser would open the file in place of the page.
    if (hasFiles(event)) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(-depth);
    const file = event.dataTransfer?.files[0];
    if (file) onFile(file);
  });
}

/** Imports files and creates collections. */
export function createImporting({ onOpen, ...options }: ImportingOptions): Importing {
  const [place, first] = [byId('import'), byId('first')];
  const input = element('input', { type: 'file', accept: ACCEPTED, hidden: '' });
  let wantsFirst = false;
  let before: Element | null = null;

  function showFirst(): void {
    first.hidden = !wantsFirst || !place.hidden;
  }

  const panel = createImportPanel({
    ...options,
    place,
    onClose() {
      showFirst();
      // Keyboard users continue where they opened the panel.
      if (before instanceof HTMLElement) before.focus();
    },
  });

  function open(act: () => void): void {
    if (place.hidden) before = document.activeElement;
    act();
    showFirst();
    onOpen();
  }

  const readFile = (file: File) => open(() => panel.readFile(file));
  const choose = () => input.click();
  const newCollection = () => open(() => panel.newCollection());
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    // Allows choosing the same file again.
    input.value = '';
    if (file) readFile(file);
  });
  document.body.append(input);
  followDrops(readFile);

  return {
    get open() {
      return !place.hidden;
    },
    close: () => panel.close(),
    choose,
    newCollection,
    setFirstScreen(on) {
      if (on === wantsFirst) return;
      wantsFirst = on;
      if (on && (mayCreate() || !isAsked(currentViewer()))) drawFirstScreen(first, choose, newCollection);
      else if (on) drawNothingScreen(first);
      showFirst();
    },
  };
}
