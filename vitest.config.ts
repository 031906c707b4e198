import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

import { compiledSearchThread, compiledSource } from './test/support/compiled-source.js';
import { KindSequencer } from './test/support/kind-sequencer.js';

/**
 * What a test needs is in its name: `x.test.ts` neither DynamoDB Local nor a browser, `x.engine.test.ts` DynamoDB Local,
 * `x.browser.test.ts` Chromium too, `x.opensearch.test.ts` OpenSearch. `x.soak.test.ts` needs DynamoDB Local for a number
 * of rounds that test/support/rounds.ts says. `x.memory.test.ts` measures memory.
 */
const named = (kind: string) => [`test/**/*.${kind}.test.ts`];
const ALL = ['test/**/*.test.ts'];

const ENGINE_SETUP = 'test/support/start-engine.ts';

// In workers of its own: other tests would leave in memory what they free later.
const MEMORY = { name: 'memory', include: named('memory') };
const KINDS = [
  { name: 'unit', include: ALL, exclude: named('{engine,browser,opensearch,soak,memory}') },
  // Before the others that need an engine: it starts while the pages are built.
  { name: 'browser', include: named('browser'), globalSetup: ['test/support/build-pages.ts', ENGINE_SETUP] },
  { name: 'engine', include: named('{engine,soak}'), globalSetup: ENGINE_SETUP },
  { name: 'opensearch', include: named('opensearch'), globalSetup: [ENGINE_SETUP, 'test/support/start-opensearch.ts'] },
];
/** For whole runs, because each project starts workers of its own, which load the same modules. */
const ALL_KINDS = {
  name: 'others',
  include: ALL,
  exclude: named('memory'),
  globalSetup: ['test/support/build-pages.ts', ENGINE_SETUP, 'test/support/start-opensearch.ts'],
};

const isWhole = process.env['CELLPORT_ALL_TESTS'] === '1';

export default defineConfig({
  plugins: [await (isWhole ? compiledSource() : compiledSearchThread())],
  resolve: {
    // Vite would take graphql's ES modules for our source where Node takes its CommonJS ones for everybody's: two copies,
    // and neither believes the other's types.
    alias: [
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) },
      // The examples name it as users do.
      { find: 'cellport/client', replacement: fileURLToPath(new URL('src/client/public.ts', import.meta.url)) },
      { find: 'cellport/server', replacement: fileURLToPath(new URL('src/server/public.ts', import.meta.url)) },
      { find: 'cellport/keys', replacement: fileURLToPath(new URL('src/keys/public.ts', import.meta.url)) },
    ],
  },
  test: {
    // Long enough for a busy machine: it ends tests that hang, not slow ones.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    // More than cores, as much of the time goes into waiting: for leases, restarts, streams.
    maxWorkers: 5,
    // With Node's 16 MB, a tenth of the CPU time went into collecting garbage.
    execArgv: ['--max-semi-space-size=64'],
    // Loading the same modules again for each file took a fifth of the time.
    isolate: false,
    // All projects and workers, and the next run, take a module as it was compiled once.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/each-file.ts'],
    sequence: { sequencer: KindSequencer },
    env: {
      // The AWS SDK warns about Node 20 once in each worker.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      // Engines that tests start run for seconds, in which Java's optimizing compiler costs more than it saves.
      JDK_JAVA_OPTIONS: process.env['JDK_JAVA_OPTIONS'] ?? '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
    },
    projects: [MEMORY, ...(isWhole ? [ALL_KINDS] : KINDS)].map((test) => ({
      extends: true,
      test,
    })),
  },
});
