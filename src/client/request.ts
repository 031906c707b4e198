import type { Cost, PageRead, RangeRead, ViewportOptions } from './options.js';

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

interface GraphqlResponse {
  readonly data?: object | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly retryAfterMs?: number };
  }[];
  readonly extensions?: { readonly cost?: Cost } & Partial<Pick<Reply, 'reads' | 'readsLeftOut' | 'pages'>>;
}

/** A response: fields that failed are null in `data`, and `error` is the first error. */
export interface Reply {
  readonly data: object;
  readonly error: ViewportError | null;
  readonly cost: Cost | null;
  readonly reads: readonly RangeRead[];
  readonly readsLeftOut: number;
  readonly pages: readonly PageRead[];
}

/** Sends an operation. Rejects with ViewportError if the response has no data, and with AbortError if aborted. */
export async function send(
  { url, headers, explain }: Pick<ViewportOptions, 'url' | 'headers' | 'explain'>,
  query: string,
  variables: object,
  signal?: AbortSignal,
): Promise<Reply> {
  const failed = (how: string) => (error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ViewportError(`${url} ${how}`, 'UNAVAILABLE');
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(explain === true ? { 'x-cellport-cost': '1', 'x-cellport-explain': '1' } : {}),
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
    ...(signal ? { signal } : {}),
  }).catch(failed('does not respond'));
  const body = await (response.json() as Promise<GraphqlResponse>).catch(
    failed(`responded with status ${response.status} and no JSON`),
  );
  const { data, errors, extensions: { cost = null, reads = [], readsLeftOut = 0, pages = [] } = {} } = body;
  const first = errors?.[0];
  const error = first
    ? new ViewportError(first.message, first.extensions?.code ?? 'UNAVAILABLE', first.extensions?.retryAfterMs)
    : null;
  if (!data) throw error ?? new ViewportError(`${url} responded with neither data nor errors`, 'UNAVAILABLE');
  return { data, error, cost, reads, readsLeftOut, pages };
}
