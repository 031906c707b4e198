import type { TestProject } from 'vitest/node';

import { type Engine, startEngine } from '../../src/engine/start.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoint of the run's DynamoDB Local. */
    engine: Pick<Engine, 'endpoint' | 'region'>;
  }
}

// Vitest loads this file once per project, so the shared engine is kept in a global.
const shared = globalThis as { cellportTestEngine?: Promise<Engine>; cellportTestProjects?: number };

/** Starts one DynamoDB Local for all projects of a run; stops it after the last of them. */
export default async function startSharedEngine(project: TestProject): Promise<() => Promise<void>> {
  shared.cellportTestProjects = (shared.cellportTestProjects ?? 0) + 1;
  shared.cellportTestEngine ??= startEngine({ dataDir: null });
  const engine = await shared.cellportTestEngine;
  project.provide('engine', { endpoint: engine.endpoint, region: engine.region });
  return async () => {
    shared.cellportTestProjects = (shared.cellportTestProjects ?? 1) - 1;
    if (shared.cellportTestProjects > 0) return;
    delete shared.cellportTestEngine;
    await engine.close();
  };
}
