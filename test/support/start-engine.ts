import type { TestProject } from 'vitest/node';

import { startEngine, type Engine } from '../../src/engine/start.js';
import { COMPILED } from './compiled-source.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoint of the test run's DynamoDB Local. */
    engine: Pick<Engine, 'endpoint' | 'region'>;
    /** A folder with `src/` and the programs of tests as plain JavaScript, for child processes. */
    compiled: string;
  }
}

// Vitest loads this file once per project, so shared state is kept in a global.
const run = globalThis as { cellportEngine?: Promise<Engine>; cellportProjects?: number };

/** One DynamoDB Local for all projects of a run. */
export function startShared(): Promise<Engine> {
  run.cellportEngine ??= startEngine({ dataDir: null });
  return run.cellportEngine;
}

/** Provides what all projects of a run share; cleans up after the last of them. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  run.cellportProjects = (run.cellportProjects ?? 0) + 1;
  const engine = await startShared();
  project.provide('engine', { endpoint: engine.endpoint, region: engine.region });
  project.provide('compiled', COMPILED);
  return async () => {
    run.cellportProjects = (run.cellportProjects ?? 1) - 1;
    if (run.cellportProjects > 0) return;
    delete run.cellportEngine;
    await engine.close();
  };
}
