import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

import { pageDocuments } from './documents.js';
import { makeTiles } from './tiles.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const tiles = [...makeTiles()];
/** Changes with the content of any tile, so that browsers may cache tiles indefinitely. */
const version = tiles
  .reduce((hash, { bytes }) => hash.update(bytes), createHash('sha256'))
  .digest('hex')
  .slice(0, 8);

/** Writes the base map to `tiles/{version}/`, beside the page. */
const baseMap: Plugin = {
  name: 'base-map',
  config: () => ({ define: { TILES_VERSION: JSON.stringify(version) } }),
  // Not as assets of the bundler: hashing them would take longer than generating them.
  async writeBundle({ dir = '' }) {
    for (const { path, bytes } of tiles) {
      const target = join(dir, 'tiles', version, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, bytes);
    }
  },
};

/** Writes the manifest of the page's operations, which a server may trust alone: see `CELLPORT_DOCUMENTS`. */
const documents: Plugin = {
  name: 'documents',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'documents.json', source: JSON.stringify(pageDocuments()) });
  },
};

/** Builds the map page into `dist/page`, static files without external resources, served at `/` and `/map/`. */
export default defineConfig({
  root: here('..'),
  base: './',
  // The page is served one folder above its files.
  experimental: { renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `map/${file}` : undefined) },
  logLevel: 'warn',
  plugins: [baseMap, documents],
  build: {
    outDir: here('../../../dist/page'),
    emptyOutDir: true,
    target: 'es2022',
    // No inlined assets, so that the content security policy needs neither data: nor inline code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // MapLibre is a single module of a megabyte.
    chunkSizeWarningLimit: 2_000,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: { codeSplitting: { groups: [{ name: 'maplibre', test: /node_modules[\\/]maplibre-gl/ }] } },
    },
  },
});
