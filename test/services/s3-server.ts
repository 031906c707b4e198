import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

/** Where `install-s3.sh` installs it. */
const JAR = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cellport-tests/s3proxy-4.1.0.jar');

export const HAS_S3_SERVER = existsSync(JAR);
if (!HAS_S3_SERVER) {
  console.warn('SKIPPED: no S3 server; test/services/install-s3.sh fetches one with Maven');
}

export interface S3Server {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** An existing, empty bucket. */
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

/** Starts an S3 server with one bucket, which keeps its objects in memory. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'cellport-s3-'));
  const settings = join(folder, 's3proxy.conf');
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const server = {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test-secret' },
    bucket: 'maps',
  };
  const lines = [
    `s3proxy.endpoint=${endpoint}`,
    's3proxy.authorization=aws-v4',
    `s3proxy.identity=${server.credentials.accessKeyId}`,
    `s3proxy.credential=${server.credentials.secretAccessKey}`,
    'jclouds.provider=transient-nio2',
    'jclouds.identity=none',
    'jclouds.credential=none',
  ];
  await writeFile(settings, lines.join('\n'));
  const child = spawn(
    'java',
    ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', JAR, '--properties', settings],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  const ended = once(child, 'exit');
  while ((await fetch(endpoint).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error(`the S3 server ended with ${child.exitCode}: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const client = new S3Client({ ...server, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: server.bucket }));
  client.destroy();
  return {
    ...server,
    close: async () => {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
