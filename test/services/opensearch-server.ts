import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { removeFolder } from '../support/remove-folder.js';

const SCRIPT = join(import.meta.dirname, 'opensearch.sh');
const VERSION = process.env['OPENSEARCH_VERSION'] ?? '2.19.6';
/** Where `opensearch.sh install` installs it. */
const INSTALLED = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  `cellport-tests/opensearch-${VERSION}/lib`,
);

export const HAS_OPENSEARCH = existsSync(INSTALLED);
if (!HAS_OPENSEARCH) {
  console.warn('SKIPPED: no OpenSearch; test/services/opensearch.sh install fetches one with Maven and a JDK');
}

/** A process of OpenSearch with its own folder. */
export class OpenSearchServer {
  readonly folder: string;
  #child: ChildProcess | undefined;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** A server that has not been started yet. */
  static async create(): Promise<OpenSearchServer> {
    return new OpenSearchServer(await mkdtemp(join(tmpdir(), 'cellport-opensearch-')));
  }

  /** Starts it on its previous port, and resolves to its URL once it answers. */
  async start(): Promise<string> {
    const port = await readFile(join(this.folder, 'http.port'), 'utf8').catch(() => '0');
    await rm(join(this.folder, 'http.port'), { force: true });
    const child = spawn(SCRIPT, ['run', this.folder, port], { stdio: ['pipe', 'ignore', 'pipe'] });
    this.#child = child;
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`OpenSearch ended with ${child.exitCode ?? child.signalCode}: ${said}`);
      const bound = await readFile(join(this.folder, 'http.port'), 'utf8').catch(() => undefined);
      if (bound !== undefined) return `http://127.0.0.1:${bound}`;
      await sleep(50);
    }
  }

  /** Kills it with SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async close(): Promise<void> {
    await this.kill();
    await removeFolder(this.folder);
  }
}
