import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './style.css';

import { GraphiQL, type GraphiQLProps } from 'graphiql';
import { getOperationAST } from 'graphql';
import { createClient } from 'graphql-ws';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

import { ViewportError } from '../../src/client/public.js';
import { credentialHeaders } from '../access/credential.js';
import { pathOf } from '../access/server.js';
import { readViewer, showSignIn } from '../access/sign-in.js';
import type { Viewer } from '../access/viewer.js';
import { ExamplesMenu } from './examples-menu.js';
import { tabs } from './examples.js';
import { SignedIn } from './signed-in.js';

/** An operation to send to the server. */
interface Request {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string | null | undefined;
}

/** Who is signed in, unless the editor's headers say who asks. */
function signedIn(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const isOwn = Object.keys(headers).some((name) => /^(authorization|x-api-key)$/i.test(name));
  return isOwn ? headers : { ...credentialHeaders(), ...headers };
}

/** Sends an operation to the page's server and requests its cost. Resolves to the response body. */
async function send(request: Request, options?: { readonly headers?: Readonly<Record<string, string>> }) {
  const response = await fetch(pathOf('graphql'), {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-cellport-cost': '1',
      ...signedIn(options?.headers),
    },
    body: JSON.stringify(request),
  });
  return response.json();
}

const live = createClient({
  url: `${location.protocol.replace('http', 'ws')}//${location.host}${pathOf('graphql')}`,
  connectionParams: () => credentialHeaders(),
});

/** Runs an operation: subscriptions over a WebSocket, queries and mutations by POST. */
const run: GraphiQLProps['fetcher'] = (request, options) => {
  const { query, variables, operationName } = request as Request;
  const operation = options?.documentAST && getOperationAST(options.documentAST, operationName);
  if (operation?.operation !== 'subscription') return send(request, options);
  // Both libraries describe the same results, with different types for optional fields.
  return live.iterate({
    query,
    variables: variables as Record<string, unknown> | undefined,
    operationName: operationName ?? undefined,
  }) as AsyncIterableIterator<object>;
};

/** Whether the server allows introspection. True if the request fails, so that GraphiQL shows the error. */
async function hasIntrospection(): Promise<boolean> {
  try {
    const response = (await send({ query: '{__schema {queryType {name}}}' })) as { readonly data?: object | null };
    return Boolean(response.data);
  } catch {
    return true;
  }
}

const place = document.querySelector('#graphiql');
if (place === null) throw new Error('the page has no element #graphiql');
let viewer: Viewer | undefined;
let refusal: string | undefined;
try {
  viewer = await readViewer();
} catch (error) {
  if (error instanceof ViewportError && ['UNAUTHENTICATED', 'FORBIDDEN'].includes(error.code)) refusal = error.message;
}
const introspection = refusal !== undefined || (await hasIntrospection());
const note = document.querySelector<HTMLElement>('#no-schema');
if (note) note.hidden = introspection;
createRoot(place).render(
  createElement(
    GraphiQL,
    // `schema: null` keeps GraphiQL from sending introspection queries that would fail.
    { fetcher: run, defaultTabs: [...tabs], ...(introspection && refusal === undefined ? {} : { schema: null }) },
    createElement(
      GraphiQL.Logo,
      null,
      createElement(SignedIn, { viewer, refusal }),
      createElement(ExamplesMenu),
      createElement('h1', null, 'Cellport'),
    ),
  ),
);
if (refusal !== undefined) showSignIn(undefined, refusal);
