// Cellport in Apollo Server.

import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';

/** Serves the schema. Gives the URL of the API, and a function that stops the server. */
export async function serve(cellport, { port = 0 } = {}) {
  const apollo = new ApolloServer({ schema: cellport.schema });
  const { url } = await startStandaloneServer(apollo, {
    listen: { port, host: '127.0.0.1' },
    context: ({ req }) => cellport.context(req),
  });
  return { url, close: () => apollo.stop() };
}
