import './keys-dialog.css';

import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['/'], 'Search'],
  [['?'], 'Show the keys'],
  [['←', '↑', '→', '↓'], 'Move the map'],
  [['+', '-'], 'Zoom in or out'],
  [['Tab'], 'Move between buttons and lists'],
  [['Esc'], 'Close the topmost panel'],
  [['Ctrl Z'], 'Undo, while editing'],
  [['Ctrl Shift Z', 'Ctrl Y'], 'Redo, while editing'],
];

/** Shows the page's keyboard shortcuts in a dialog. */
export function showKeys(): void {
  const dialog = element('dialog', { class: 'panel keys', 'aria-labelledby': 'keys-title' });
  const close = button({ class: 'icon', 'aria-label': 'Close' }, () => dialog.close(), icon('close'));
  const rows = KEYS.map(([keys, does]) => {
    const pressed = keys.map((key) => element('kbd', {}, key));
    return element('tr', {}, element('td', {}, does), element('td', {}, ...pressed));
  });
  dialog.append(
    element('header', {}, element('h2', { id: 'keys-title' }, 'Keys'), close),
    element('table', {}, element('tbody', {}, ...rows)),
  );
  dialog.addEventListener('close', () => dialog.remove());
  // A click outside the dialog hits its backdrop.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}
