import type { Map as MapLibre } from 'maplibre-gl';

import { button, byId, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { COARSE_FROM_ZOOM } from './ground.js';

const STORAGE_KEY = 'cellport-base-note';
const ENDS_HERE =
  'The built-in base map has no streets. To show them, start the server with CELLPORT_STYLE_URL set to a MapLibre style or a PMTiles file.';

/** Shows a note about the base map, with a button that closes it. */
export function showNote(text: string, onClose: () => void = () => undefined): void {
  const note = byId('base-note');
  const close = () => {
    note.hidden = true;
    onClose();
  };
  note.replaceChildren(
    element('p', {}, text),
    button({ class: 'icon', 'aria-label': 'Close note about the base map' }, close, icon('close')),
  );
  note.hidden = false;
}

function storage(use: (storage: Storage) => string | null | void): string | null | void {
  try {
    return use(localStorage);
  } catch {
    // Storage may be disabled; the note then reappears on each load of the page.
    return null;
  }
}

/** Shows a note once if a tile of the base map cannot be loaded. */
export function sayWhatIsMissing(map: MapLibre): void {
  let isSaid = false;
  map.on('error', (event) => {
    if (isSaid || !('tile' in event)) return;
    isSaid = true;
    showNote('Could not load all of the base map. Move the map to try again.');
  });
}

/** Shows a note where the built-in base map ends in detail, until the user closes it. */
export function sayWhereItEnds(map: MapLibre): void {
  let isClosed = storage((kept) => kept.getItem(STORAGE_KEY)) === 'closed';
  let isShown = false;
  const update = () => {
    const isWanted = !isClosed && map.getZoom() >= COARSE_FROM_ZOOM;
    if (isWanted === isShown) return;
    isShown = isWanted;
    if (!isWanted) byId('base-note').hidden = true;
    else
      showNote(ENDS_HERE, () => {
        isClosed = true;
        storage((kept) => kept.setItem(STORAGE_KEY, 'closed'));
      });
  };
  map.on('moveend', update);
  update();
}
