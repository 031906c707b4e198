/** Sends a GraphQL request to a server, and returns the response. */
export function postQuery(
  url: string,
  query: string,
  { path = '/graphql', variables, headers, signal }: PostOptions = {},
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
    ...(signal && { signal }),
  });
}

interface PostOptions {
  readonly path?: '/graphql' | '/graphql/stream';
  readonly variables?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}
