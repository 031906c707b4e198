import { once } from 'node:events';

import type { Engine } from '../../src/engine/start.js';
import { startServer, type Served } from '../rig/serve-cities.js';

/** Servers behind a load balancer without health checks: the addresses stay, a killed server is started again. */
export class Servers {
  readonly #running: (Served | undefined)[] = [];
  readonly #engine: Engine;
  readonly #settings: Readonly<Record<string, string>>;

  private constructor(engine: Engine, settings: Readonly<Record<string, string>>) {
    this.#engine = engine;
    this.#settings = settings;
  }

  static async start(engine: Engine, count: number, settings: Readonly<Record<string, string>>): Promise<Servers> {
    const servers = new Servers(engine, settings);
    for (let n = 0; n < count; n++) await servers.#start(n);
    return servers;
  }

  get count(): number {
    return this.#running.length;
  }

  /** The address of a server; undefined while it is down. */
  url(n: number): string | undefined {
    return this.#running[n % this.count]?.url;
  }

  /** Kills a server as a lost machine would, and starts it again. */
  async replace(n: number): Promise<void> {
    const child = this.#running[n]?.child;
    this.#running[n] = undefined;
    child?.kill('SIGKILL');
    await this.#start(n);
  }

  async stop(): Promise<void> {
    for (const served of this.#running) {
      if (served === undefined) continue;
      served.child.kill('SIGTERM');
      await once(served.child, 'exit');
    }
  }

  async #start(n: number): Promise<void> {
    this.#running[n] = undefined;
    this.#running[n] = await startServer(this.#engine, [], this.#settings, (line) => /Serving +http/.test(line));
  }
}
