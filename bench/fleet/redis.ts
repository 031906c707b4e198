import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Redis on a free port; undefined where there is none. */
export async function startRedis(): Promise<{ readonly url: string; stop(): void } | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: 'ignore',
  });
  await sleep(500);
  return { url: `redis://127.0.0.1:${port}`, stop: () => redis.kill() };
}
