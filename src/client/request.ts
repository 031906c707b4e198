import type { Explained, ServerOptions } from './options.js';

/** An error from the server, or a missing response. */
export class ViewportError extends Error {
  override readonly name = 'ViewportError';
  /** One of Cellport's error codes (BAD_USER_INPUT, THROTTLED, …); UNAVAILABLE if there was no valid response. */
  readonly code: string;
  /** Delay before retrying, in ms, if the server specifies one. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, code: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface GraphqlResponse {
  readonly data?: object | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly retryAfterMs?: number };
  }[];
  readonly extensions?: Partial<Reply>;
}

/** A response: fields that failed are null in `data`, and `error` is the first error. */
export interface Reply extends Explained {
  readonly data: object;
  readonly error: ViewportError | null;
}

const REFUSALS: Readonly<Record<number, string>> = { 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN' };

/** The code of an error that only its HTTP status describes. */
export const codeOf = (status: number): string => REFUSALS[status] ?? 'UNAVAILABLE';

/** Whether a server will refuse a client until that has other headers. */
export const isRefusal = (error: ViewportError | null): boolean =>
  error !== null && Object.values(REFUSALS).includes(error.code);

/** Whether a request that fails with this error may succeed later. */
export const isPassing = ({ code }: ViewportError): boolean => code === 'UNAVAILABLE' || code === 'THROTTLED';

/** Between attempts. */
export const RETRIES = { firstMs: 1_000, longestMs: 30_000 };

/** The first error of a response; `code` if it has none. */
export function errorOf([first]: GraphqlResponse['errors'] = [], code: string): ViewportError | null {
  return first
    ? new ViewportError(first.message, first.extensions?.code ?? code, first.extensions?.retryAfterMs)
    : null;
}

/** The headers to send now. Rejects with ViewportError if the application cannot provide them. */
export async function headersOf(headers: ServerOptions['headers'], isRefused = false) {
  try {
    return typeof headers === 'function' ? await headers(isRefused) : headers;
  } catch (error) {
    throw new ViewportError(error instanceof Error ? error.message : String(error), 'UNAVAILABLE');
  }
}

/** Returns a handler that throws ViewportError, or the reason of an abort. */
const failed = (signal: AbortSignal | null | undefined, message: string, code: string) => (error: unknown) => {
  throw signal?.aborted === true ? error : new ViewportError(message, code);
};

/**
 * Sends a request; once more if its headers are refused with 401 and a function may have others. Rejects with ViewportError
 * if there is no response, and with AbortError if aborted.
 */
export async function request(
  url: string,
  headers: ServerOptions['headers'],
  signal: AbortSignal | null = null,
  init: { readonly headers?: object; readonly method?: string; readonly body?: string } = {},
): Promise<Response> {
  const ask = async (isRefused: boolean) =>
    fetch(url, {
      ...init,
      headers: { ...init.headers, ...(await headersOf(headers, isRefused)) },
      signal,
    }).catch(failed(signal, `${url} does not respond`, 'UNAVAILABLE'));
  const response = await ask(false);
  return response.status === 401 && typeof headers === 'function' ? ask(true) : response;
}

/** Posts an operation, like `request`. */
export const post = (
  { url, headers, explain }: ServerOptions,
  query: string,
  variables: object,
  signal?: AbortSignal,
  path = '',
): Promise<Response> =>
  request(url + path, headers, signal, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(explain === true && { 'x-cellport-cost': '1', 'x-cellport-explain': '1' }),
    },
    body: JSON.stringify({ query, variables }),
  });

/** Reads a response. Rejects with ViewportError if it has no data, and with AbortError if aborted. */
export async function replyOf(response: Response, url: string, signal?: AbortSignal): Promise<Reply> {
  const code = codeOf(response.status);
  const body = await (response.json() as Promise<GraphqlResponse>).catch(
    failed(signal, `${url} responded with status ${response.status} and no JSON`, code),
  );
  const { data, errors, extensions: { cost = null, reads = [], readsLeftOut = 0, pages = [] } = {} } = body;
  const error = errorOf(errors, code);
  if (!data) throw error ?? new ViewportError(`${url} responded with neither data nor errors`, code);
  return { data, error, cost, reads, readsLeftOut, pages };
}

/** Sends an operation. Rejects with ViewportError if the response has no data, and with AbortError if aborted. */
export const send = async (
  options: ServerOptions,
  query: string,
  variables: object,
  signal?: AbortSignal,
): Promise<Reply> => replyOf(await post(options, query, variables, signal), options.url, signal);
