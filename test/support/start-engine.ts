import { rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';

import { startEngine, type Engine } from '../../src/engine/start.js';
import { compile } from './compile.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoint of the test run's DynamoDB Local. */
    engine: Pick<Engine, 'endpoint' | 'region'>;
    /** A folder with `src/` and the programs of tests as plain JavaScript, for child processes. */
    compiled: string;
  }
}

interface Shared {
  readonly engine: Engine;
  readonly compiled: string;
}

async function start(): Promise<Shared> {
  const [engine, compiled] = await Promise.all([startEngine({ dataDir: null }), compile()]);
  return { engine, compiled };
}

// Vitest loads this file once per project, so shared state is kept in a global.
const run = globalThis as { cellportShared?: Promise<Shared>; cellportProjects?: number };

/** One DynamoDB Local and one compilation for all projects of a run. */
export function startShared(): Promise<Shared> {
  run.cellportShared ??= start();
  return run.cellportShared;
}

/** Provides what all projects of a run share; cleans up after the last of them. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  run.cellportProjects = (run.cellportProjects ?? 0) + 1;
  const { engine, compiled } = await startShared();
  project.provide('engine', { endpoint: engine.endpoint, region: engine.region });
  project.provide('compiled', compiled);
  return async () => {
    run.cellportProjects = (run.cellportProjects ?? 1) - 1;
    if (run.cellportProjects > 0) return;
    delete run.cellportShared;
    await engine.close();
    await rm(compiled, { recursive: true });
  };
}
