import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Serves the pages for a local Cellport: `npm run example:maps`, then open /maplibre.html or /leaflet.html. */
export default defineConfig({
  root: here('.'),
  logLevel: 'warn',
  // In your own project, this is the installed package.
  resolve: { alias: { 'cellport/client': here('../../src/client/public.ts') } },
  server: {
    host: '127.0.0.1',
    open: false,
    // The API allows no other origins, so pages and API share one.
    proxy: { '/graphql': { target: process.env['CELLPORT_URL'] ?? 'http://127.0.0.1:4000', ws: true } },
  },
  build: {
    target: 'es2022',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4_000,
    rolldownOptions: { input: [here('maplibre.html'), here('leaflet.html')] },
  },
});
