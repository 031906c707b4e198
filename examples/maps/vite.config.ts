import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const pages = ['maplibre.html', 'leaflet.html'];

/** Serves the pages for a local Cellport: `npm run example:maps`. */
export default defineConfig({
  root: here('.'),
  logLevel: 'warn',
  plugins: [
    {
      name: 'print-pages',
      configureServer(server) {
        // Vite would print the folder, which has no page.
        server.printUrls = () => {
          for (const page of pages) console.log(`${server.resolvedUrls?.local[0]}${page}`);
        };
      },
    },
  ],
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
    rolldownOptions: { input: pages.map(here) },
  },
});
