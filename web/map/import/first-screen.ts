import './import.css';

import { showSignIn } from '../../access/sign-in.js';
import { currentViewer, mayCreate } from '../api/permissions.js';
import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { copyCommand } from './copy-command.js';

/** Shows how to create the first collection on a server without any. */
export function drawFirstScreen(place: HTMLElement, onChoose: () => void, onCreate: () => void): void {
  const choose = button({ class: 'zone' }, onChoose, icon('upload'), 'Drop a GeoJSON or CSV file here, or choose one');
  const start = button({ class: 'link' }, onCreate, 'with an empty collection');
  const larger = mayCreate() ? 'larger files' : 'files';
  place.replaceChildren(
    element('h2', {}, 'This server has no collections yet'),
    ...(mayCreate() ? [choose, element('p', {}, 'Or start ', start, ' and click the map to add places.')] : []),
    element('p', {}, `Import ${larger} on the command line of the server:`),
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

/** Says to those who may create no collection, on a server that asks who they are, that they see none. */
export function drawNothingScreen(place: HTMLElement): void {
  const viewer = currentViewer();
  const signIn = button({ class: 'act' }, () => showSignIn(viewer), 'Sign in');
  place.replaceChildren(
    element('h2', {}, 'You may not see any collection here'),
    element('p', {}, 'Another API key or token may show more.'),
    signIn,
  );
}

/** Shows why the server answers nobody, as it does without rules. */
export function drawRefusal(place: HTMLElement, why: string): void {
  place.replaceChildren(
    element('h2', {}, 'This server does not answer yet'),
    element('p', {}, why),
    element('p', { class: 'hint' }, 'The map opens automatically once it does.'),
  );
  place.hidden = false;
}
