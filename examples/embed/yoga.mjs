// Cellport in GraphQL Yoga.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { CellportError } from 'cellport/server';
import { createYoga, maskError } from 'graphql-yoga';

/** Serves the schema. Gives the URL of the API, and a function that stops the server. */
export async function serve(cellport, { port = 0 } = {}) {
  const yoga = createYoga({
    schema: cellport.schema,
    context: ({ request }) => cellport.context(request),
    // Yoga hides what errors say. Those of Cellport are meant for clients.
    maskedErrors: {
      maskError: (error, ...rest) => (error.originalError instanceof CellportError ? error : maskError(error, ...rest)),
    },
  });
  const server = createServer((request, response) => void yoga(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${server.address().port}${yoga.graphqlEndpoint}`, close };
}
