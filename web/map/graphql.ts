/** What the server said instead of an answer, or that it could not be asked. */
export class RequestError extends Error {
  /** The code in the error's extensions; `OFFLINE` where there was no answer at all. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RequestError';
    this.code = code;
  }
}

interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** Runs a document and gives its data, whole: a RequestError where any part of it failed. */
export async function ask<T>(query: string, variables: object = {}): Promise<T> {
  let answer: Answer<T>;
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    answer = (await response.json()) as Answer<T>;
  } catch (error) {
    throw new RequestError('OFFLINE', 'The server does not answer.', { cause: error });
  }
  const [failed] = answer.errors ?? [];
  if (failed !== undefined) throw new RequestError(failed.extensions?.code ?? 'INTERNAL', failed.message);
  if (answer.data === undefined || answer.data === null) throw new RequestError('INTERNAL', 'The answer is empty.');
  return answer.data;
}
