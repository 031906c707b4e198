import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** An answer as a proxy passes it on. */
export interface Forwarded {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const agent = new Agent({ keepAlive: true });

/** Sends a request that a proxy received on to an endpoint. Rejects if the connection breaks. */
export function forward(endpoint: string, { method, headers, url }: IncomingMessage, body: Buffer): Promise<Forwarded> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const onward = request({ hostname, port, method, headers, path: url, agent }, (got) => {
      buffer(got).then(
        (answer) => resolve({ status: got.statusCode ?? 500, headers: got.headers, body: answer }),
        reject,
      );
    });
    onward.on('error', reject);
    onward.end(body);
  });
}
