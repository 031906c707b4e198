import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, defineConfig } from 'vite';

import { makeTiles } from './tiles.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The base map beside the page, under `tiles/`. */
const baseMap: Plugin = {
  name: 'base-map',
  // Past the bundler, which would take longer to hash them than it takes to make them.
  async writeBundle({ dir = '' }) {
    for (const { path, bytes } of makeTiles()) {
      await mkdir(dirname(join(dir, 'tiles', path)), { recursive: true });
      await writeFile(join(dir, 'tiles', path), bytes);
    }
  },
};

/** The map page as static files that need no other host: `dist/page`, served at `/` with its parts under `/map/`. */
export default defineConfig({
  root: here('..'),
  base: '/map/',
  logLevel: 'warn',
  plugins: [baseMap],
  build: {
    outDir: here('../../../dist/page'),
    emptyOutDir: true,
    target: 'es2022',
    // Everything is a file of its own, so that the page runs under a content security policy without data: and inline code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // MapLibre is one module of a megabyte; a warning of it at every build helps nobody.
    chunkSizeWarningLimit: 2_000,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: { codeSplitting: { groups: [{ name: 'maplibre', test: /node_modules[\\/]maplibre-gl/ }] } },
    },
  },
});
