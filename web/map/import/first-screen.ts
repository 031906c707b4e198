import './import.css';

import { button, element } from '../element.js';
import { icon } from '../icons.js';
import { copyCommand } from './copy-command.js';

/** What a server without collections shows: how to get the first one. */
export function drawFirstScreen(place: HTMLElement, onChoose: () => void, onCreate: () => void): void {
  const choose = button({ class: 'zone' }, onChoose, icon('upload'), 'Drop a GeoJSON or CSV file here, or choose one');
  place.replaceChildren(
    element('h2', {}, 'This server has no collections yet'),
    choose,
    element(
      'p',
      {},
      'Or begin ',
      button({ class: 'link' }, onCreate, 'with an empty collection'),
      ' and click on the map.',
    ),
    element('p', {}, 'Larger files are imported where the server runs:'),
    copyCommand('npx cellport import places.geojson --collection places'),
    element('p', {}, 'The demo, 49,000 cities and all countries, is loaded by a server that is started with'),
    copyCommand('npx cellport serve --demo'),
    element(
      'p',
      { class: 'hint' },
      'In a clone: npm start for the demo; node dist/cli/main.js in place of npx cellport.',
    ),
  );
}
