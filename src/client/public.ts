/** The exports of `cellport/client`: Cellport viewports for web pages, without dependencies. */
export { subscribe } from './event-stream.js';
export { type Features, toFeatures } from './geojson.js';
export { type LiveTilesOptions, type RefreshableMap, liveTiles } from './live-tiles.js';
export { type MapLibreMap, type ViewportSource, viewportSource } from './maplibre.js';
export type {
  Answer,
  Content,
  Cost,
  MapCell,
  MapCluster,
  MapMarker,
  MapZone,
  RangeRead as Read,
  ServerOptions,
  ViewportOptions,
  ViewportState,
} from './options.js';
export { ViewportError } from './request.js';
export type { Bounds } from './tiles.js';
export { type Viewport, createViewport } from './viewport.js';
