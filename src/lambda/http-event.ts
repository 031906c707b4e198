/** Requests and answers as AWS Lambda has them: the format 2.0 of API Gateway's HTTP APIs, and of function URLs. */
import { isIP } from 'node:net';

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
export interface EventRequest {
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
