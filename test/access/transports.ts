import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

/** The answer to an operation, without what depends on the transport. */
export interface Plain {
  readonly data?: unknown;
  readonly errors?: readonly unknown[];
}

type Ask = (url: string, query: string, headers: Readonly<Record<string, string>>) => Promise<Plain>;

const JSON_TYPE = { 'content-type': 'application/json' };

async function bySocket(
  url: string,
  query: string,
  connectionParams: Readonly<Record<string, string>>,
): Promise<Plain> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams,
  });
  try {
    const answers = client.iterate({ query });
    for await (const answer of answers) return answer as Plain;
    throw new Error('no answer');
  } catch (errors) {
    // Those of an operation that has not started.
    if (Array.isArray(errors)) return { errors };
    throw errors;
  } finally {
    await client.dispose();
  }
}

async function byStream(url: string, query: string, headers: Readonly<Record<string, string>>): Promise<Plain> {
  const body = JSON.stringify({ query });
  const response = await fetch(`${url}/graphql/stream`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body,
  });
  return answerIn(response);
}

/** The answer in an event stream, or in what was sent in place of one. */
async function answerIn(response: Response): Promise<Plain> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text) as Plain;
  return JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? 'null') as Plain;
}

/** The ways in which an operation reaches a server. */
export const TRANSPORTS: Readonly<Record<'POST' | 'GET' | 'events' | 'events by GET' | 'WebSocket', Ask>> = {
  POST: async (url, query, headers) => {
    const sent = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify({ query }) };
    return (await (await fetch(`${url}/graphql`, sent)).json()) as Plain;
  },
  GET: async (url, query, headers) => {
    const preflight = { 'apollo-require-preflight': '1' };
    const sent = { headers: { ...preflight, ...headers } };
    return (await (await fetch(`${url}/graphql?query=${encodeURIComponent(query)}`, sent)).json()) as Plain;
  },
  events: byStream,
  'events by GET': async (url, query, headers) => {
    const response = await fetch(`${url}/graphql/stream?query=${encodeURIComponent(query)}`, { headers });
    return answerIn(response);
  },
  WebSocket: bySocket,
};
