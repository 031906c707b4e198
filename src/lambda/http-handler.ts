/** Answers requests in an AWS Lambda. */
import { isIP } from 'node:net';
import { join } from 'node:path';

import type { Config } from '../config.js';
import { limitExceeded } from '../errors.js';
import { formatted, statusOfCode } from '../graphql/error-format.js';
import { IN_PROCESS, readAddresses } from '../http/addresses.js';
import { createLog } from '../log-output.js';
import { checkReach } from '../loopback.js';
import { openAnswering, openBuckets } from '../server/answering.js';
import { openBackend, type Backend } from '../server/backend.js';
import { storedReport } from '../server/consumer.js';
import { consumerOfOthers } from '../server/watch-consumer.js';
import { checkKeyStyle, checkTables } from '../store/table/tables.js';

// Requests and answers are as AWS Lambda has them: the format 2.0 of API Gateway's HTTP APIs, and of function URLs.

/** The part of an event that is used. Names of headers are in lower case; a repeated header is one, with commas. */
export interface HttpEvent {
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly cookies?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly requestContext: {
    readonly stage: string;
    readonly http: { readonly method: string; readonly sourceIp: string };
  };
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

export interface HttpResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
  readonly isBase64Encoded: true;
}

/** A request, and the address from which it reached AWS. */
interface EventRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly address: string;
}

/**
 * Function URLs leave a path as it was sent; HTTP APIs decode it, and put the name of a stage before it. So what cannot be
 * in the path of a URL is encoded again.
 */
function pathOf({ rawPath, requestContext: { stage } }: HttpEvent): string {
  const path = rawPath.startsWith(`/${stage}/`) ? rawPath.slice(stage.length + 1) : rawPath;
  return path.replaceAll(/%(?![\da-f]{2})|[^\x21-\x7e]+|[?#]/gi, (text) =>
    Buffer.from(text).toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
  );
}

/** The request of an event. AWS has added the address to `X-Forwarded-For`, which has only those of proxies before it here. */
export function requestOf(event: HttpEvent): EventRequest {
  const { rawQueryString: query, cookies = [], requestContext, body, isBase64Encoded } = event;
  const { method, sourceIp } = requestContext.http;
  const { 'x-forwarded-for': said = '', ...headers } = event.headers;
  const before = said.split(',').map((each) => each.trim());
  if (before.at(-1) === sourceIp) before.pop();
  return {
    method,
    url: pathOf(event) + (query === '' ? '' : `?${query}`),
    headers: {
      ...headers,
      ...(cookies.length > 0 && { cookie: cookies.join('; ') }),
      ...(before.length > 0 && { 'x-forwarded-for': before.join(', ') }),
    },
    body: body === undefined ? undefined : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
    address: isIP(sourceIp) === 0 ? '' : sourceIp,
  };
}

type Headers = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** About a connection, which AWS has with the client. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];

/** The result for an answer. Always in base64: in the JSON of a result, the quotes of ours would take as much. */
export function resultOf(statusCode: number, headers: Headers, body: Buffer): HttpResult {
  const { 'set-cookie': cookies = [], ...others } = headers;
  const kept = Object.entries(others).flatMap(([name, value]) =>
    value === undefined || OF_CONNECTION.includes(name) ? [] : [[name, [value].flat().join(', ')] as const],
  );
  return {
    statusCode,
    headers: Object.fromEntries(kept),
    cookies: [cookies].flat().map(String),
    body: body.toString('base64'),
    isBase64Encoded: true,
  };
}

/** AWS returns six million bytes of JSON, with the body in base64. */
const MOST_BYTES = 4_500_000;

/**
 * Opens a handler for events of API Gateway and function URLs. Between calls, a function is frozen: so nothing goes on in
 * the background, and what a server would follow is read when it is needed. Throws BAD_USER_INPUT for settings that would
 * let anybody change data, and for tables that are not Cellport's.
 */
export async function openHandler(config: Config, open: () => Promise<Backend> = () => openBackend(config)) {
  checkReach(config.http.host, config);
  const log = createLog(config.logLevel);
  const backend = await open();
  const { database } = backend;
  const consumer = consumerOfOthers(database, []);
  const kept = { consumerStatus: consumer.status, storedReport: () => storedReport(database) };
  const answering = openAnswering(config, backend, () => openBuckets(config, backend, log), kept, log);
  // The pages, if they are beside the function's file.
  const [mapDir, staticDir] = ['page', 'graphiql'].map((name) => join(import.meta.dirname, name)) as [string, string];
  const opened = answering.open({ allowedHosts: ['*'], files: { mapDir, staticDir }, followsRules: false });
  const [{ http }] = await Promise.all([
    opened,
    checkTables(database).then(() => checkKeyStyle(database)),
    consumer.look(),
  ]);
  await http.ready();
  const addresses = readAddresses(config.http.trustedProxies);

  return async (event: HttpEvent): Promise<HttpResult> => {
    await consumer.look();
    const { method, url, headers, body, address } = requestOf(event);
    const { 'x-forwarded-host': host } = headers;
    const answer = await http.inject({
      method: method as 'GET',
      url,
      // CloudFront must pass the name of the function on, so it tells by which name it was reached itself.
      headers: { ...headers, ...(host !== undefined && addresses.isProxy(address) && { host }) },
      remoteAddress: `${IN_PROCESS} ${address}`,
      ...(body && { payload: body }),
    });
    const { statusCode, headers: answered, rawPayload } = answer;
    if (rawPayload.length <= MOST_BYTES) return resultOf(statusCode, answered, rawPayload);
    const error = limitExceeded('size of the answer', rawPayload.length, MOST_BYTES, 'ask for less, or accept gzip');
    const text = Buffer.from(JSON.stringify({ errors: [formatted(error)] }));
    return resultOf(statusOfCode(error.code), { 'content-type': 'application/json; charset=utf-8' }, text);
  };
}
