import type { Cost, Read, ViewportOptions } from './options.js';

/** An error that a server answered with. */
export class ViewportError extends Error {
  override readonly name = 'ViewportError';
  /** One of Cellport's codes (BAD_USER_INPUT, THROTTLED …), or UNAVAILABLE where there was no such answer. */
  readonly code: string;
  /** In how many ms to try again, where the server says so. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, code: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

interface GraphqlAnswer {
  readonly data?: object | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly retryAfterMs?: number };
  }[];
  readonly extensions?: { readonly cost?: Cost; readonly reads?: readonly Read[]; readonly readsLeftOut?: number };
}

/** What came of a request: fields that failed are missing in `data`, and `error` is the first reason. */
export interface Reply {
  readonly data: object;
  readonly error: ViewportError | null;
  readonly cost: Cost | null;
  readonly reads: readonly Read[];
  readonly readsLeftOut: number;
}

/** Sends a query. Rejects with ViewportError where there is no data at all, and with AbortError where it was aborted. */
export async function send(
  { url, headers, explain }: Pick<ViewportOptions, 'url' | 'headers' | 'explain'>,
  query: string,
  variables: object,
  signal?: AbortSignal,
): Promise<Reply> {
  let answer: GraphqlAnswer;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(explain === true ? { 'x-cellport-cost': '1', 'x-cellport-explain': '1' } : {}),
        ...headers,
      },
      body: JSON.stringify({ query, variables }),
      ...(signal ? { signal } : {}),
    });
    answer = (await response.json()) as GraphqlAnswer;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ViewportError(`${url} gave no answer: ${String(error)}`, 'UNAVAILABLE');
  }
  const { data, errors, extensions: { cost = null, reads = [], readsLeftOut = 0 } = {} } = answer;
  const first = errors?.[0];
  const error = first
    ? new ViewportError(first.message, first.extensions?.code ?? 'UNAVAILABLE', first.extensions?.retryAfterMs)
    : null;
  if (!data) throw error ?? new ViewportError(`${url} answered with neither data nor errors`, 'UNAVAILABLE');
  return { data, error, cost, reads, readsLeftOut };
}
