import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { keeperFile, readKeeperFile } from '../../src/engine/keeper-file.js';
import type { Engine, startEngine as StartEngine } from '../../src/engine/start.js';
import { settingsOf } from '../support/engine-settings.js';
import { randomFrom } from '../support/random.js';
import { removeFolder } from '../support/remove-folder.js';
import { startFaultProxy, type FaultProxy, type Weather } from './fault-proxy.js';
import type { Episode } from './plan.js';

const MEGABYTE = 1024 * 1024;
const DISK_MB = 4_096;
const STARTS_WITHIN_MS = 120_000;
const SETTINGS = {
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  CELLPORT_WORKERS: '1',
  CELLPORT_SEARCH_MB: '0',
  CELLPORT_LOG: 'error',
  PORT: '0',
};

const killIfRuns = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
};

/** The command line of a process; empty if there is none. */
const commandOf = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

/** Stops a process for a time. A shell lets it go on, even if the runner is killed meanwhile. */
const stopFor = (pid: number, ms: number) =>
  spawn('sh', ['-c', `kill -STOP ${pid}; sleep ${ms / 1_000}; kill -CONT ${pid}`], { stdio: 'ignore', detached: true });

/** One server, which is started again after it was killed. */
export class FleetServer {
  readonly #start: () => ChildProcess;
  #child: ChildProcess | undefined;
  #runs = 0;
  /** Undefined while it is down. */
  url: string | undefined;
  /** The last lines that it printed. */
  output = '';

  readonly name: string;

  constructor(name: string, start: () => ChildProcess) {
    this.name = name;
    this.#start = start;
  }

  /** Differs after each start. */
  get run(): string {
    return `${this.name}, run ${this.#runs}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it until it serves. While DynamoDB cannot be reached, it ends, and is started again as a supervisor would. */
  async start(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.#serves())) await sleep(500);
  }

  #serves(): Promise<boolean> {
    const child = this.#start();
    this.#child = child;
    this.#runs += 1;
    let text = '';
    return new Promise((resolve) => {
      const late = setTimeout(() => child.kill('SIGKILL'), STARTS_WITHIN_MS);
      child.once('exit', () => {
        clearTimeout(late);
        if (this.#child === child) this.url = undefined;
        resolve(false);
      });
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
          this.output = (this.output + piece).slice(-4_000);
          const [, url] = /Serving +(http:\/\/\S+)/.exec(text) ?? [];
          if (url === undefined || this.url !== undefined || this.#child !== child) return;
          this.url = url;
          clearTimeout(late);
          resolve(true);
        });
    });
  }

  setClock(aheadMs: number): void {
    if (this.#child?.connected === true) this.#child.send({ aheadMs });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.url = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}

export interface FleetOptions {
  /** A folder of compiled code. */
  readonly compiled: string;
  readonly seed: number;
  /** How many servers reach the engine through a proxy. One more shares its folder. */
  readonly proxied: number;
}

/**
 * An engine on a folder of its own, servers that reach it through proxies, and a server that runs it as its embedded one.
 * Everything ends with the runner.
 */
export class Fleet {
  readonly folder: string;
  readonly options: FleetOptions;
  readonly servers: FleetServer[] = [];
  readonly #proxies: FaultProxy[] = [];
  readonly #stop = new AbortController();
  readonly #underway = new Set<Promise<unknown>>();
  #engine: Engine | undefined;
  #mounted = false;

  private constructor(folder: string, options: FleetOptions) {
    this.folder = folder;
    this.options = options;
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(await mkdtemp(join(tmpdir(), 'cellport-chaos-')), options);
    try {
      await fleet.#open();
      return fleet;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  async #open(): Promise<void> {
    const { compiled, seed, proxied } = this.options;
    this.#mounted = this.#mount(`size=${DISK_MB}m`);
    if (!this.#mounted) console.error('NOT TESTED: a full disk, because this user may not mount a tmpfs');
    const { startEngine } = (await import(join(compiled, 'src/engine/start.js'))) as {
      startEngine: typeof StartEngine;
    };
    const engine = await startEngine({ dataDir: this.#data });
    this.#engine = engine;
    for (let n = 0; n < proxied; n += 1) {
      const proxy = await startFaultProxy(engine.currentEndpoint, randomFrom(seed + 7 * n));
      this.#proxies.push(proxy);
      this.#add(`proxied ${n}`, settingsOf({ ...engine, endpoint: proxy.url }));
    }
    this.#add('embedded', { CELLPORT_ENGINE: 'embedded', CELLPORT_DATA_DIR: this.#data });
    // The first one makes the tables.
    for (const server of this.servers) await server.start(this.#stop.signal);
  }

  #add(name: string, settings: Readonly<Record<string, string>>): void {
    const { PATH = '', HOME = '', JDK_JAVA_OPTIONS = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' } = process.env;
    const preload = join(import.meta.dirname, 'preload.mjs');
    const main = join(this.options.compiled, 'src/cli/main.js');
    this.servers.push(
      new FleetServer(name, () =>
        spawn(process.execPath, ['--import', preload, main, 'serve'], {
          cwd: this.folder,
          env: { PATH, HOME, JDK_JAVA_OPTIONS, ...SETTINGS, ...settings },
          stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        }),
      ),
    );
  }

  #mount(options: string): boolean {
    return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', this.folder]).status === 0;
  }

  #java(): number {
    const pid = readKeeperFile(keeperFile(this.#data))?.java?.pid ?? 0;
    return commandOf(pid).includes('DynamoDBLocal') ? pid : 0;
  }

  #keeper(): number {
    const java = this.#java();
    if (java === 0) return 0;
    const stat = readFileSync(`/proc/${java}/stat`, 'utf8');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return commandOf(parent).includes('keeper') ? parent : 0;
  }

  /** Lets something that has no end of its own go on beside the clients. */
  #beside(work: Promise<unknown>): void {
    this.#underway.add(work);
    void work.finally(() => this.#underway.delete(work));
  }

  #weather(server: number, weather: Weather | undefined): void {
    this.#proxies[server]?.set(weather);
  }

  async #fillDisk(forMs: number, share: number): Promise<boolean> {
    if (!this.#mounted) return false;
    const { blocks, bavail, bsize } = await statfs(this.folder);
    // An engine that Cellport does not start gives acknowledgements even then, so the others must not reach it.
    for (const proxy of this.#proxies) proxy.set({ fault: 'unreachable', share: 1 });
    const used = (blocks - bavail) * bsize;
    const isFull = spawnSync('mount', ['-o', `remount,size=${used + Math.floor(share * 6 * MEGABYTE)}`, this.folder]);
    await sleep(forMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    spawnSync('mount', ['-o', `remount,size=${DISK_MB}m`, this.folder]);
    for (const proxy of this.#proxies) proxy.set(undefined);
    return isFull.status === 0;
  }

  /** Makes a fault happen, and ends it after its time; returns whether it could. */
  async befall({ fault, forMs, server: number, share, aheadMs }: Episode): Promise<boolean> {
    const server = this.servers[number % this.servers.length] as FleetServer;
    const pause = () => sleep(forMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    switch (fault) {
      case 'server killed':
        await server.kill();
        await pause();
        if (!this.#stop.signal.aborted) this.#beside(server.start(this.#stop.signal));
        return true;
      case 'server paused':
        if (server.pid === undefined) return false;
        stopFor(server.pid, forMs);
        await pause();
        return true;
      case 'engine killed':
      case 'keeper killed': {
        const pid = fault === 'engine killed' ? this.#java() : this.#keeper();
        if (pid > 0) killIfRuns(pid, 'SIGKILL');
        await pause();
        return pid > 0;
      }
      case 'engine paused': {
        const pid = this.#java();
        if (pid > 0) stopFor(pid, forMs / 2);
        await pause();
        return pid > 0;
      }
      case 'clock set':
        server.setClock(aheadMs);
        await pause();
        server.setClock(0);
        return true;
      case 'disk full':
        return this.#fillDisk(forMs, share);
      default: {
        const proxied = number % this.#proxies.length;
        this.#weather(proxied, { fault, share });
        await pause();
        this.#weather(proxied, undefined);
        return true;
      }
    }
  }

  /** Requests that met a fault of the wire. */
  requestsMet(): Record<string, number> {
    const sum: Record<string, number> = {};
    for (const { met } of this.#proxies)
      for (const [fault, count] of Object.entries(met)) sum[fault] = (sum[fault] ?? 0) + count;
    return sum;
  }

  /** Resolves when every server serves again. */
  async healed(): Promise<void> {
    for (let n = 0; n < this.#proxies.length; n += 1) this.#weather(n, undefined);
    await Promise.all(this.#underway);
    for (const server of this.servers) if (server.url === undefined) await server.start(this.#stop.signal);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    const java = this.#engine ? this.#java() : 0;
    await Promise.all(this.servers.map((server) => server.kill()));
    await Promise.all(this.#underway);
    await Promise.all(this.servers.map((server) => server.kill()));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await Promise.race([this.#engine?.close(), sleep(20_000)]);
    // What a keeper that was killed left behind.
    if (java > 0 && commandOf(java).includes('DynamoDBLocal')) killIfRuns(java, 'SIGKILL');
    for (let n = 0; this.#mounted && n < 100 && spawnSync('umount', [this.folder]).status !== 0; n += 1)
      await sleep(200);
    await removeFolder(this.folder);
  }
}
