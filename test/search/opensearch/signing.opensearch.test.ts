import { createHash, createHmac } from 'node:crypto';
import { Agent, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { openClient, type Client } from '../../../src/search/opensearch/client.js';

const REGION = 'eu-central-1';
const HOST = `search-maps-abc.${REGION}.es.amazonaws.com`;
const CREDENTIALS = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret', sessionToken: 'token/+=' };

/** What was received. */
interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }
  update(data: string | ArrayBuffer | ArrayBufferView) {
    this.#hash.update(data as string);
  }
  digest() {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }
}

/** The header of the same request as the AWS SDK signs it, which shares no code with the client. */
async function signedBySdk({ method, url, headers, body }: Received): Promise<string | undefined> {
  const signed = /SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '')?.[1]?.split(';') ?? [];
  const date = headers['x-amz-date'] ?? '';
  const signingDate = new Date(date.replace(/^(....)(..)(..T..)(..)(.*)$/, '$1-$2-$3:$4:$5'));
  const { pathname, searchParams } = new URL(url, `https://${HOST}`);
  const own = new SignatureV4({ service: 'es', region: REGION, credentials: CREDENTIALS, sha256: Sha256 });
  const request = {
    method,
    protocol: 'https:',
    hostname: HOST,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(signed.map((name) => [name, headers[name] ?? ''])),
    body,
  };
  return (await own.sign(request, { signingDate })).headers['authorization'];
}

const received: Received[] = [];
const server = createServer((asked, answer) => {
  const { method = '', url = '', headers } = asked;
  void text(asked).then((body) => {
    received.push({ method, url, headers: headers as Record<string, string>, body });
    answer.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}');
  });
});
let client: Client;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  vi.stubEnv('AWS_ACCESS_KEY_ID', CREDENTIALS.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', CREDENTIALS.secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', CREDENTIALS.sessionToken);
  const lookup = (_host: string, _options: object, done: (error: null, all: readonly object[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  client = await openClient(`http://${HOST}:${port}`, { agent: () => new Agent({ lookup } as object) });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await client.close();
  server.close();
});

const index = 'cellport-maps-0123456789~1-abc';
test.each([
  ['neither body nor query string', (to: Client) => to.indices.exists({ index })],
  ['a query string', (to: Client) => to.indices.get({ index: `${index}*`, expand_wildcards: 'all' })],
  [
    'lines of JSON and a query string',
    (to: Client) =>
      to.bulk({
        index,
        refresh: false,
        require_alias: true,
        body: '{"create":{"_id":"a#b"}}\n{"n":"Łódź"}\n' as never,
      }),
  ],
  ['a body', (to: Client) => to.search({ index, body: { query: { term: { name: { value: 'l\'été + "~"' } } } } })],
])('a request to AWS with %s has the signature of the AWS SDK', async (_, ask) => {
  received.splice(0);
  await ask(client);
  const [request] = received;
  if (request === undefined) throw new Error('nothing was received');
  expect(request.headers['authorization']).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-central-1\/es\/aws4_request, /,
  );
  expect(request.headers['authorization']).toMatch(/SignedHeaders=[^,]*host[^,]*x-amz-content-sha256/);
  expect(request.headers['x-amz-content-sha256']).toBe(createHash('sha256').update(request.body).digest('hex'));
  expect(request.headers['authorization']).toBe(await signedBySdk(request));
});
