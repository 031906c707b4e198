import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { keeperFile, readKeeperFile } from '../../src/engine/keeper-file.js';
import type { Engine, startEngine as StartEngine } from '../../src/engine/start.js';
import { settingsOf } from '../support/engine-settings.js';
import { randomFrom } from '../support/random.js';
import { removeFolder } from '../support/remove-folder.js';
import { startFaultProxy, WIRE_FAULTS, type FaultProxy, type Weather, type WireFault } from './fault-proxy.js';
import { FleetServer } from './fleet-server.js';
import type { Episode } from './plan.js';

/** Servers that reach the engine through a proxy each; one more embeds it. */
const PROXIED = 2;
const DISK_MB = 4_096;
/** Below 8 MB, Cellport refuses writes. */
const LEFT_ON_FULL_DISK_BYTES = 6 * 1024 * 1024;

/** The file of a process in /proc; empty if there is no such process. */
function inProc(pid: number, file: 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** Stops a process for a time. A shell lets it go on, even if the runner is killed meanwhile. */
const stopFor = (pid: number, ms: number) =>
  spawn('sh', ['-c', `kill -STOP ${pid}; sleep ${ms / 1_000}; kill -CONT ${pid}`], { stdio: 'ignore', detached: true });

export interface FleetOptions {
  /** A folder of compiled code. */
  readonly compiled: string;
  readonly seed: number;
}

/** An engine on a folder of its own, and servers; all of them end with the runner. */
export class Fleet {
  readonly servers: FleetServer[] = [];
  readonly #options: FleetOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'cellport-chaos-'));
  readonly #data = join(this.#folder, 'data');
  readonly #proxies: FaultProxy[] = [];
  readonly #stop = new AbortController();
  readonly #starting = new Set<Promise<void>>();
  #engine: Engine | undefined;
  #isMounted = false;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** Starts everything. Call `close` even if this fails. */
  async open(): Promise<void> {
    const { compiled, seed } = this.#options;
    this.#isMounted = this.#mount(`size=${DISK_MB}m`);
    if (!this.#isMounted) console.error('NOT TESTED: a full disk, because this user may not mount a tmpfs');
    // Compiled, so that the keeper that it starts is plain JavaScript, too.
    type Start = { readonly startEngine: typeof StartEngine };
    const { startEngine } = (await import(join(compiled, 'src/engine/start.js'))) as Start;
    const engine = await startEngine({ dataDir: this.#data });
    this.#engine = engine;
    for (let n = 0; n < PROXIED; n += 1) {
      const proxy = await startFaultProxy(engine.currentEndpoint, randomFrom(seed + 7 * n));
      this.#proxies.push(proxy);
      this.servers.push(new FleetServer(`proxied ${n}`, compiled, settingsOf({ ...engine, endpoint: proxy.url })));
    }
    const embedded = { CELLPORT_ENGINE: 'embedded', CELLPORT_DATA_DIR: this.#data };
    this.servers.push(new FleetServer('embedded', compiled, embedded));
    for (const server of this.servers) await server.start(this.#stop.signal);
  }

  #mount(options: string): boolean {
    return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', this.#folder]).status === 0;
  }

  /** The engine's process; 0 while there is none. */
  #java(): number {
    const pid = readKeeperFile(keeperFile(this.#data))?.java?.pid ?? 0;
    return inProc(pid, 'cmdline').includes('DynamoDBLocal') ? pid : 0;
  }

  #keeper(): number {
    const stat = inProc(this.#java(), 'stat');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return inProc(parent, 'cmdline').includes('keeper') ? parent : 0;
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  #setAll(weather: Weather | undefined): void {
    for (const proxy of this.#proxies) proxy.set(weather);
  }

  async #fillDisk(forMs: number, share: number): Promise<boolean> {
    if (!this.#isMounted) return false;
    const { blocks, bavail, bsize } = await statfs(this.#folder);
    // An engine that Cellport does not start gives acknowledgements even then, so the others must not reach it.
    this.#setAll({ fault: 'unreachable', share: 1 });
    const size = (blocks - bavail) * bsize + Math.floor(share * LEFT_ON_FULL_DISK_BYTES);
    const isFull = this.#mount(`remount,size=${size}`);
    await this.#pause(forMs);
    this.#mount(`remount,size=${DISK_MB}m`);
    this.#setAll(undefined);
    return isFull;
  }

  /** Makes a fault happen, and ends it after its time; returns whether it could. */
  async befall({ fault, forMs, server: number, share, aheadMs }: Episode): Promise<boolean> {
    const server = this.servers[number] as FleetServer;
    const proxy = this.#proxies[number % PROXIED] as FaultProxy;
    if (fault === 'disk full') return this.#fillDisk(forMs, share);
    const isOfWire = WIRE_FAULTS.some((each) => each === fault);
    const target =
      fault === 'keeper killed' ? this.#keeper() : fault.startsWith('engine') ? this.#java() : (server.pid ?? 0);
    if (target === 0 && !isOfWire) return false;
    if (isOfWire) proxy.set({ fault: fault as WireFault, share });
    else if (fault === 'server killed') await server.kill();
    else if (fault === 'clock set') server.setClock(aheadMs);
    else if (fault === 'server paused' || fault === 'engine paused') stopFor(target, forMs);
    else kill(target);
    await this.#pause(forMs);
    if (fault === 'server killed') this.#restart(server);
    else if (fault === 'clock set') server.setClock(0);
    else if (isOfWire) proxy.set(undefined);
    return true;
  }

  /** Starts a server beside the clients. */
  #restart(server: FleetServer): void {
    const started = server.start(this.#stop.signal).finally(() => this.#starting.delete(started));
    this.#starting.add(started);
  }

  /** Requests that met a fault of the wire. */
  requestsMet(): Record<string, number> {
    const sum: Record<string, number> = {};
    for (const [fault, count] of this.#proxies.flatMap(({ met }) => Object.entries(met)))
      sum[fault] = (sum[fault] ?? 0) + count;
    return sum;
  }

  /** Resolves when every server serves again. */
  async healed(): Promise<void> {
    this.#setAll(undefined);
    await Promise.all(this.#starting);
    for (const server of this.servers) if (server.url === undefined) this.#restart(server);
    await Promise.all(this.#starting);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    const java = this.#java();
    // Twice, because one may be about to start.
    for (let n = 0; n < 2; n += 1) {
      await Promise.all(this.servers.map((server) => server.kill()));
      await Promise.all(this.#starting);
    }
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await Promise.race([this.#engine?.close(), sleep(20_000)]);
    // What a killed keeper left behind.
    for (const pid of [java, this.#java()]) if (inProc(pid, 'cmdline').includes(this.#folder)) kill(pid);
    const unmounts = () => spawnSync('umount', [this.#folder]).status === 0;
    for (let n = 0; this.#isMounted && n < 100 && !unmounts(); n += 1) await sleep(200);
    await removeFolder(this.#folder);
  }
}
