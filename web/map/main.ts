import 'maplibre-gl/dist/maplibre-gl.css';
import './style.css';

import { startPage } from './app/start.js';
import { addFonts } from './base-map/fonts.js';

addFonts();
startPage().catch((error: unknown) => {
  console.error(error);
  const bar = document.querySelector<HTMLElement>('#bar');
  if (bar === null) return;
  bar.textContent = 'This browser cannot display the map, which requires WebGL. GraphiQL works without it: /graphiql/';
  bar.hidden = false;
});
