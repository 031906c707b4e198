import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './style.css';

import { GraphiQL, type GraphiQLProps } from 'graphiql';
import { getOperationAST } from 'graphql';
import { createClient } from 'graphql-ws';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

/** What GraphiQL asks to have sent. */
interface Request {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string | null | undefined;
}

/** Sends one operation to the server that this page came from, and asks what it costs; answers are shown as they are. */
async function send(request: Request, options?: { readonly headers?: Readonly<Record<string, string>> }) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-cellport-cost': '1',
      ...options?.headers,
    },
    body: JSON.stringify(request),
  });
  return response.json();
}

const live = createClient({ url: `${location.protocol.replace('http', 'ws')}//${location.host}/graphql` });

/** Runs an operation: subscriptions over a WebSocket, answer by answer, all else by POST. */
const run: GraphiQLProps['fetcher'] = (request, options) => {
  const { query, variables, operationName } = request as Request;
  const operation = options?.documentAST && getOperationAST(options.documentAST, operationName);
  if (operation?.operation !== 'subscription') return send(request, options);
  // The two libraries describe the same answers, one of them with fields that may be undefined.
  return live.iterate({
    query,
    variables: variables as Record<string, unknown> | undefined,
    operationName: operationName ?? undefined,
  }) as AsyncIterableIterator<object>;
};

const inOrder = (files: Readonly<Record<string, string>>) =>
  Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, query]) => ({ query }));

/** The example queries in the order of their file names, then those of the sensor register, one tab each. */
const examples = [
  ...inOrder(import.meta.glob<string>('./examples/*.graphql', { query: '?raw', import: 'default', eager: true })),
  ...inOrder(
    import.meta.glob<string>('../../examples/sensors/*.graphql', { query: '?raw', import: 'default', eager: true }),
  ),
];

/** Whether the server tells its schema, which can be turned off; what cannot be asked is taken for yes, and shown by GraphiQL. */
async function tellsSchema(): Promise<boolean> {
  try {
    const answer = (await send({ query: '{__schema {queryType {name}}}' })) as { readonly data?: object | null };
    return Boolean(answer.data);
  } catch {
    return true;
  }
}

const place = document.querySelector('#graphiql');
if (place === null) throw new Error('the page has lost its place for GraphiQL');
const isTold = await tellsSchema();
const note = document.querySelector<HTMLElement>('#untold');
if (note) note.hidden = isTold;
createRoot(place).render(
  createElement(
    GraphiQL,
    // Without a schema nothing is completed or checked while one writes, and nothing is asked for in vain.
    { fetcher: run, defaultTabs: examples, ...(isTold ? {} : { schema: null }) },
    createElement(GraphiQL.Logo, null, 'Cellport'),
  ),
);
