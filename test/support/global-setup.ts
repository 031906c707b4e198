import type { TestProject } from 'vitest/node';

import { type Engine, startEngine } from '../../src/engine/start.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The DynamoDB Local of this test run: one, in memory, for all files. */
    engine: Omit<Engine, 'close'>;
  }
}

/** Starts one DynamoDB Local for the run; its tables belong to the test files (see test-database.ts). */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = await startEngine({ dataDir: null });
  const { endpoint, region, credentials } = engine;
  project.provide('engine', { endpoint, region, credentials });
  return () => engine.close();
}
