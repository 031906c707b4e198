import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { forward } from './forward.js';
import { engine } from './test-database.js';

/**
 * A proxy that forwards requests to the test run's engine, except those for which `holds` is true of the operation and
 * the request's JSON: they get no response, and those for which `refuses` names the exception that is the answer.
 */
export function engineProxy(
  holds: (operation: string, body: string) => boolean = () => false,
  refuses: (operation: string, body: string) => string | undefined = () => undefined,
): Server {
  const { endpoint } = engine();
  return createServer((asked, answer) => {
    buffer(asked)
      .then(async (body) => {
        const operation = String(asked.headers['x-amz-target']).split('.').at(-1) ?? '';
        if (holds(operation, body.toString())) return;
        const exception = refuses(operation, body.toString());
        if (exception !== undefined) {
          const message = `not authorized to perform: dynamodb:${operation}`;
          answer.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
          answer.end(JSON.stringify({ __type: `com.amazon.coral.service#${exception}`, message }));
          return;
        }
        const got = await forward(endpoint, asked, body);
        answer.writeHead(got.status, got.headers).end(got.body);
      })
      // The client was killed.
      .catch(() => answer.destroy());
  });
}

let ports = process.pid * 7;
/**
 * A port on which nothing listens, for servers that are closed and opened again. Systems give ports from 32,768 on to
 * whoever asks for any, or connects: with other tests in parallel, one that was closed may be taken.
 */
export const closedPort = (): number => 20_000 + ((ports += 1) % 10_000);

export interface StallingProxy {
  readonly url: string;
  /** Resolves at the first request that gets no response. */
  readonly stalled: Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts the proxy; it reports when it first holds a request. */
export async function startStallingProxy(holds: (operation: string, body: string) => boolean): Promise<StallingProxy> {
  let stall = (): void => undefined;
  const stalled = new Promise<void>((resolve) => (stall = resolve));
  const server = engineProxy((operation, body) => {
    const isHeld = holds(operation, body);
    if (isHeld) stall();
    return isHeld;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    stalled,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
