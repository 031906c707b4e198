import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** GraphiQL as static files that need no other host: `dist/graphiql`, served under `/graphiql/`. */
export default defineConfig({
  root: here('.'),
  base: './',
  logLevel: 'warn',
  build: {
    outDir: here('../../dist/graphiql'),
    emptyOutDir: true,
    target: 'es2022',
    // Everything is a file of its own, so that the page runs under a content security policy without data: and inline code.
    assetsInlineLimit: 0,
    // Monaco, the editor inside GraphiQL, is large whatever one does; warnings of it at every build help nobody.
    chunkSizeWarningLimit: 10_000,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      onLog(level, log, handle) {
        // "use client" of a dependency means nothing to a page that is only ever a client.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
  worker: { format: 'es' },
});
