import '@fontsource/noto-sans/latin-400.css';
import '@fontsource/noto-sans/latin-600.css';
import '@fontsource/noto-sans/latin-ext-400.css';
import '@fontsource/noto-sans/latin-ext-600.css';
import 'maplibre-gl/dist/maplibre-gl.css';
import './style.css';

import { startPage } from './page.js';

startPage().catch((error: unknown) => {
  console.error(error);
  const bar = document.querySelector<HTMLElement>('#bar');
  if (bar === null) return;
  bar.textContent = 'This browser cannot draw the map, which requires WebGL. GraphiQL works without it: /graphiql/';
  bar.hidden = false;
});
