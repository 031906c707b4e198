import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** As `install-s3.sh` has it. */
const PROGRAM = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'cellport-tests/versitygw-v1.8.0/versitygw',
);

export const HAS_S3_SERVER = existsSync(PROGRAM);
if (!HAS_S3_SERVER) {
  console.warn('NOT TESTED: an S3 server, because there is none; test/services/install-s3.sh makes one where Go is');
}

export interface S3Server {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** A bucket that is there, and empty. */
  readonly bucket: string;
  close(): Promise<void>;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (typeof address !== 'object' || address === null) throw new Error('a server that listens has an address');
  return address.port;
}

/** Starts an S3 server with one bucket, over a folder of its own that goes away with it. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'cellport-s3-'));
  const bucket = 'maps';
  await mkdir(join(folder, 'data', bucket), { recursive: true });
  await mkdir(join(folder, 'sidecar'));
  const port = await freePort();
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test-secret' };
  const child = spawn(
    PROGRAM,
    // The sidecar, as not every file system of a temporary folder has extended attributes.
    ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', '--sidecar', join(folder, 'sidecar'), join(folder, 'data')],
    {
      env: { ROOT_ACCESS_KEY_ID: credentials.accessKeyId, ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  const ended = once(child, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  while ((await fetch(endpoint).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error(`the S3 server ended with ${child.exitCode}: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    endpoint,
    region: 'us-east-1',
    credentials,
    bucket,
    close: async () => {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
