import './import.css';

import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { copyCommand } from './copy-command.js';

/** Shows how to create the first collection on a server without any. */
export function drawFirstScreen(place: HTMLElement, onChoose: () => void, onCreate: () => void): void {
  const choose = button({ class: 'zone' }, onChoose, icon('upload'), 'Drop a GeoJSON or CSV file here, or choose one');
  place.replaceChildren(
    element('h2', {}, 'This server has no collections yet'),
    choose,
    element(
      'p',
      {},
      'Or start ',
      button({ class: 'link' }, onCreate, 'with an empty collection'),
      ' and click the map to add places.',
    ),
    element('p', {}, 'Import larger files on the command line of the server:'),
    copyCommand('npx cellport import places.geojson --collection places'),
    element('p', {}, 'To load the demo, 49,000 cities and all countries, start the server with'),
    copyCommand('npx cellport serve --demo'),
    element(
      'p',
      { class: 'hint' },
      'In a clone, use npm start for the demo, and node dist/cli/main.js instead of npx cellport.',
    ),
  );
}
