/** What `cellport/client` exports: a viewport of Cellport in a web page, with no dependencies. */
export { toFeatures } from './geojson.js';
export { viewportSource } from './maplibre.js';
export { ViewportError } from './request.js';
export { createViewport } from './viewport.js';
