import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { createKey, guardedServer, type GuardedServer } from '../access/guarded-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testDatabase } from '../support/test-database.js';

/** The name of the examples. */
const HOST = 'maps.example.org';
/** Nobody vouches for its certificate here. */
const TLS = { servername: HOST, rejectUnauthorized: false };
const EXAMPLES = new URL('../../docs/proxies/', import.meta.url);
const isInstalled = { nginx: existsSync('/usr/sbin/nginx'), caddy: existsSync('/usr/bin/caddy') };
for (const [name, isThere] of Object.entries(isInstalled))
  if (!isThere) console.warn(`SKIPPED: the example for ${name}, which is not installed`);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs a program until it is stopped. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data: Buffer) => (said += String(data)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    said: () => said,
    ended,
    stop: async () => {
      // Caddy would wait for what is open.
      child.kill('SIGINT');
      setTimeout(() => child.kill('SIGKILL'), 2_000).unref();
      await ended;
    },
  };
}

const db = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();

test('each location of the example for nginx says who the client is, whatever the client says', async () => {
  const [, ...locations] = (await readFile(new URL('nginx.conf', EXAMPLES), 'utf8')).split(/^ +location /m);
  expect(locations.length).toBe(2);
  for (const location of locations) {
    expect(location).toContain('proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;');
  }
});

describe.each(['nginx', 'caddy'] as const)('the example for %s', (name) => {
  let server: GuardedServer;
  let proxy: ReturnType<typeof run>;
  let port: number;
  let key: string;

  beforeAll(async () => {
    if (!isInstalled[name]) return;
    const rules = { roles: { all: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }] } };
    server = await guardedServer(db, rules, { CELLPORT_ALLOWED_HOSTS: HOST });
    key = await createKey(db, { roles: ['all'] });
    port = await freePort();
    const own = join(folder, name);
    const text = await readFile(new URL(name === 'nginx' ? 'nginx.conf' : 'Caddyfile', EXAMPLES), 'utf8');
    const changed = text.replaceAll('127.0.0.1:4000', new URL(server.url).host);
    if (name === 'nginx') {
      const [pem, secret] = [`${own}.pem`, `${own}.key`];
      await run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${HOST}`, '-keyout', secret, '-out', pem]).ended; // prettier-ignore
      const site = changed
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replace(/ssl_certificate .*;/, `ssl_certificate ${pem};`)
        .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${secret};`);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${own}-${each};`); // prettier-ignore
      const whole = `daemon off; pid ${own}.pid; error_log stderr; events {} http { access_log off; ${paths.join(' ')} ${site} }`;
      await writeFile(`${own}.conf`, whole);
      proxy = run('/usr/sbin/nginx', ['-c', `${own}.conf`, '-e', 'stderr']);
    } else {
      // A certificate of its own, as nobody else vouches for the name.
      const site = changed.replace(`${HOST} {`, `${HOST}:${port} {\n\tbind 127.0.0.1\n\ttls internal`);
      await writeFile(`${own}file`, `{\nadmin off\nauto_https disable_redirects\nskip_install_trust\n}\n${site}`);
      const env = { ...process.env, XDG_DATA_HOME: own, XDG_CONFIG_HOME: own };
      proxy = run('/usr/bin/caddy', ['run', '--adapter', 'caddyfile', '--config', `${own}file`], env);
    }
  });
  afterAll(async () => {
    await proxy?.stop();
    await server?.close();
  });

  /** Posts an operation; calls `onData` with what has arrived, and resolves to all of it. */
  function ask(
    query: string,
    {
      path = '/graphql',
      onData,
      signal,
    }: { path?: string; onData?: (text: string) => void; signal?: AbortSignal } = {},
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { host: HOST, origin: `https://${HOST}`, 'content-type': 'application/json', authorization: `Bearer ${key}` }; // prettier-ignore
      const sent = request(
        { ...TLS, host: '127.0.0.1', port, path, method: 'POST', headers, ...(signal && { signal }) },
        (answer) => {
          let text = '';
          answer.on('data', (data: Buffer) => {
            text += String(data);
            onData?.(text);
          });
          answer.on('end', () => resolve(text));
          answer.once('error', reject);
        },
      );
      sent.once('error', reject);
      sent.end(JSON.stringify({ query }));
    });
  }

  test.skipIf(!isInstalled[name])(
    'passes credentials, WebSockets, and each event of a stream as it comes',
    async () => {
      const viewer = () => ask('{ viewer { name } }').catch(proxy.said);
      await expect.poll(viewer, { timeout: 30_000 }).toContain('"name":"all"');
      const [collection, id] = [`sensors-${name}`, `marker::sensors-${name}::one`];
      await ask(`mutation { createCollection(input: { key: "${collection}", name: "Sensors" }) { id } }`);
      const created = await ask(`mutation { createMarker(input: { collection: "${collection}", key: "one", position: { lng: 1, lat: 2 } }) { id } }`); // prettier-ignore
      expect(created).toContain(id);
      const query = `subscription { readingRecorded(marker: "${id}") { at } }`;

      const options = { ...TLS, headers: { host: HOST }, origin: `https://${HOST}` };
      const socket = new WebSocket(`wss://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', options);
      const messages: string[] = [];
      socket.on('message', (data: Buffer) => {
        messages.push(String(data));
        if (messages.length === 1) socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
      });
      socket.once('open', () =>
        socket.send(JSON.stringify({ type: 'connection_init', payload: { 'x-api-key': key } })),
      );

      let streamed = '';
      const closing = new AbortController();
      const onData = (text: string) => (streamed = text);
      const ended = ask(query, { path: '/graphql/stream', onData, signal: closing.signal }).catch(() => 'ended');
      let second = 0;
      const recording = setInterval(() => {
        const at = new Date(Date.UTC(2020, 0, 1, 0, 0, (second += 1))).toISOString();
        void ask(`mutation { recordReadings(marker: "${id}", readings: [{ at: "${at}", values: { x: 1 } }]) }`).catch(
          () => undefined,
        );
      }, 300);
      try {
        await expect.poll(() => messages.join(' '), { timeout: 20_000 }).toContain('readingRecorded');
        await expect.poll(() => streamed, { timeout: 20_000 }).toContain('readingRecorded');
        // The stream is open while its events arrive.
        expect(await Promise.race([ended, Promise.resolve('open')])).toBe('open');
      } finally {
        clearInterval(recording);
        socket.terminate();
        closing.abort();
      }
    },
  );
});
