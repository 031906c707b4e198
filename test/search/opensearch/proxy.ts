import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** The response to a request in place of the cluster's: an error, a closed connection, or none at all. */
export type Interception = { readonly status: number } | 'no answer' | 'held' | undefined;

export interface ClusterProxy {
  readonly url: string;
  /** Decides about each request, by its path and body; may be replaced. */
  intercept: (path: string, body: string) => Interception;
  close(): Promise<void>;
}

/** A proxy for OpenSearch that fails on demand. */
export async function startProxy(target: string): Promise<ClusterProxy> {
  const server = createServer((asked, answer) => {
    const forward = async () => {
      const body = await buffer(asked);
      const { url = '/', method = 'GET' } = asked;
      const instead = proxy.intercept(url, body.toString());
      if (instead === 'held') return;
      if (instead === 'no answer') return void answer.destroy();
      if (instead) {
        const error = { type: 'test_exception', reason: 'SECRET of the engine' };
        answer.writeHead(instead.status, { 'content-type': 'application/json' });
        return void answer.end(JSON.stringify({ error, status: instead.status }));
      }
      const type = asked.headers['content-type'];
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const got = await fetch(target + url, { method, headers, ...(body.length > 0 ? { body } : {}) });
      const text = await got.text();
      answer.writeHead(got.status, { 'content-type': got.headers.get('content-type') ?? 'application/json' });
      answer.end(method === 'HEAD' ? undefined : text);
    };
    forward().catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: ClusterProxy = {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    intercept: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}
