import type { HttpEvent } from '../../src/lambda/http-handler.js';

export interface Sent {
  readonly method?: string;
  /** As in the first line of a request. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body?: string | Buffer;
  readonly from?: string;
}

export type Front = 'url' | 'api' | 'stage';

/** AWS adds the address to those that a client says to come from. */
const forwarded = (said: string | undefined, from: string) => (said === undefined ? from : `${said},${from}`);

/**
 * The event of a request, in the form recorded from a function URL, from an HTTP API with its stage `$default`, and from one
 * with the stage `v1`: an HTTP API decodes paths.
 */
export function eventOf(front: Front, sent: Sent): HttpEvent {
  const { method = 'GET', path: target, headers = {}, cookies, body, from = '203.0.113.7' } = sent;
  const [path = '/', query = ''] = target.split('?');
  const stage = front === 'stage' ? 'v1' : '$default';
  const rawPath = front === 'url' ? path : `${front === 'stage' ? '/v1' : ''}${decodeURIComponent(path)}`;
  const id = 'r3pmxmplak';
  const domainName =
    front === 'url' ? `${id}.lambda-url.eu-central-1.on.aws` : `${id}.execute-api.eu-central-1.amazonaws.com`;
  const parameters = [...new URLSearchParams(query)];
  const isText = typeof body === 'string';
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: query,
    ...(cookies && { cookies }),
    headers: {
      'x-amzn-tls-cipher-suite': 'TLS_AES_128_GCM_SHA256',
      'x-amzn-tls-version': 'TLSv1.3',
      'x-amzn-trace-id': 'Root=1-6929a1b2-5e1b4da87f1d3c0b6a2f9e11',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '443',
      host: domainName,
      'user-agent': 'curl/8.14.1',
      accept: '*/*',
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
      'x-forwarded-for': forwarded(headers['x-forwarded-for'], from),
    },
    ...(parameters.length > 0 && { queryStringParameters: Object.fromEntries(parameters) }),
    requestContext: {
      accountId: front === 'url' ? 'anonymous' : '123456789012',
      apiId: id,
      domainName,
      domainPrefix: id,
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: from, userAgent: 'curl/8.14.1' },
      requestId: '2b5d8f0e-6a4c-4f6d-9f0a-7f1c2d3e4b5a',
      routeKey: '$default',
      stage,
      time: '29/Nov/2026:09:10:00 +0000',
      timeEpoch: 1_796_029_800_000,
    },
    ...(body !== undefined && { body: isText ? body : body.toString('base64') }),
    isBase64Encoded: body !== undefined && !isText,
  };
  return event;
}
