import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // Vite would take graphql's ES modules for our source where Node takes its CommonJS ones for everybody's: two copies,
    // and neither believes the other's types.
    alias: [
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) },
      // The examples name it as users do.
      { find: 'cellport/client', replacement: fileURLToPath(new URL('src/client/public.ts', import.meta.url)) },
      { find: 'cellport/keys', replacement: fileURLToPath(new URL('src/keys/public.ts', import.meta.url)) },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Long enough for a busy machine: a test that hangs is found, a slow one is not punished.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    // A fifth of the time went into loading the same modules for each file anew.
    isolate: false,
    setupFiles: ['test/support/each-file.ts'],
    env: {
      // The AWS SDK's note on Node 20 in each worker would bury what tests say.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
  },
});
