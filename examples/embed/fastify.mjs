// Cellport as a handler in Fastify, below /maps: the API with all limits, rules and budgets, tiles and GraphiQL.

import { fastify } from 'fastify';

/** Serves the handler. Gives the URL of the API, and a function that stops the server. */
export async function serve(cellport, { port = 0 } = {}) {
  const app = fastify();
  // Cellport reads bodies itself.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  app.all('/maps/*', (request, reply) => {
    const { method, raw, headers, body } = request;
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const sent = new Request(`http://${headers.host}${raw.url.slice('/maps'.length)}`, {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
      signal: gone.signal,
      ...(body && { body, duplex: 'half' }),
    });
    // Event streams, too, are sent as they come.
    return cellport.fetch(sent).then((answer) => reply.send(answer));
  });
  const url = await app.listen({ port, host: '127.0.0.1' });
  return { url: `${url}/maps/graphql`, close: () => app.close() };
}
