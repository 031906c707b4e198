import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './style.css';
import { GraphiQL } from 'graphiql';
import { getOperationAST } from 'graphql';
import { createClient } from 'graphql-ws';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
/** Sends one operation to the server that this page came from, and asks what it costs; answers are shown as they are. */
async function send(request, options) {
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
const run = (request, options) => {
    const { query, variables, operationName } = request;
    const operation = options?.documentAST && getOperationAST(options.documentAST, operationName);
    if (operation?.operation !== 'subscription')
        return send(request, options);
    // The two libraries describe the same answers, one of them with fields that may be undefined.
    return live.iterate({
        query,
        variables: variables,
        operationName: operationName ?? undefined,
    });
};
const inOrder = (files) => Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, query]) => ({ query }));
/** The example queries in the order of their file names, then those of the sensor register, one tab each. */
const examples = [
    ...inOrder(import.meta.glob('./examples/*.graphql', { query: '?raw', import: 'default', eager: true })),
    ...inOrder(import.meta.glob('../../examples/sensors/*.graphql', { query: '?raw', import: 'default', eager: true })),
];
const place = document.querySelector('#graphiql');
if (place === null)
    throw new Error('the page has lost its place for GraphiQL');
createRoot(place).render(createElement(GraphiQL, { fetcher: run, defaultTabs: examples }, createElement(GraphiQL.Logo, null, 'Cellport')));
