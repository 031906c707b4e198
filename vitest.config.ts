import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import { ProjectSequencer } from './test/support/project-sequencer.js';

/** Long tests: test/support/rounds.ts says how many rounds they run. */
const SOAK = [
  'test/stream/simulation/*.test.ts',
  'test/stream/kill/*.test.ts',
  'test/map/{model,near-layouts}.test.ts',
  'test/jobs/repartition.test.ts',
  'test/fuzz/*.test.ts',
];
/** They need Chromium. */
const BROWSER = ['test/web/{examples,explain,first-load,graphiql,import,map}.test.ts'];
/** Neither DynamoDB Local nor a browser. */
const UNIT = [
  'test/{arrivals,clock,layers,log,test-report,turns}.test.ts',
  'test/{capacity,geo,graphql,keys,pages,plan,sources}/**/*.test.ts',
  'test/cli/{config,progress,stop}.test.ts',
  'test/client/{access,bundle,interrupted,tile-cache,tiles}.test.ts',
  'test/http/admission.test.ts',
  'test/geolibrary/plan.test.ts',
  'test/ingest/{as-people-write,hostile-rows,order,output,read-file,seen-keys,write-format}.test.ts',
  'test/live/{change,hub,memory}.test.ts',
  'test/loaders/{cell-cache,directory-reader,marker-cache,marker-loader,range-union}.test.ts',
  'test/search/{embedded,line}.test.ts',
  'test/server/caches.test.ts',
  'test/map/{cells,features,filter,inside,known-counts,paging,runs,stalls,viewport}.test.ts',
  'test/stream/{apply,first-load,fold,status}.test.ts',
  'test/store/consumption/{sampler,top-keys}.test.ts',
  'test/store/readers.test.ts',
  'test/support/rfc7946.test.ts',
  'test/web/{accents,base-tiles,connection,coordinates,edit-forms,explain-cells,follow-load,heat,import-files,largest-part,url-hash}.test.ts',
];

/** They need OpenSearch, and most of them DynamoDB Local. */
const OPENSEARCH = ['test/search/opensearch/*.test.ts'];

const ENGINE_SETUP = 'test/support/start-engine.ts';

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
    // Long enough for a busy machine: it ends tests that hang, not slow ones.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // More than cores, as much of the time goes into waiting: for leases, restarts, streams.
    maxWorkers: 4,
    // Loading the same modules again for each file took a fifth of the time.
    isolate: false,
    // All projects and workers, and the next run, take a module as it was compiled once.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/each-file.ts'],
    sequence: { sequencer: ProjectSequencer },
    env: {
      // The AWS SDK warns about Node 20 once in each worker.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      // Engines that tests start run for seconds, in which Java's optimizing compiler costs more than it saves.
      JDK_JAVA_OPTIONS: process.env['JDK_JAVA_OPTIONS'] ?? '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
    },
    projects: [
      { extends: true, test: { name: 'unit', include: UNIT } },
      // Before the others that need an engine: it starts while the pages are built.
      {
        extends: true,
        test: { name: 'browser', include: BROWSER, globalSetup: ['test/support/build-pages.ts', ENGINE_SETUP] },
      },
      {
        extends: true,
        test: {
          name: 'engine',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...BROWSER, ...SOAK, ...OPENSEARCH],
          globalSetup: ENGINE_SETUP,
        },
      },
      { extends: true, test: { name: 'soak', include: SOAK, globalSetup: ENGINE_SETUP } },
      {
        extends: true,
        test: {
          name: 'opensearch',
          include: OPENSEARCH,
          globalSetup: [ENGINE_SETUP, 'test/support/start-opensearch.ts'],
        },
      },
    ],
  },
});
