import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What CreateInvalidation was asked. */
export interface Invalidation {
  readonly distribution: string;
  readonly paths: readonly string[];
  readonly reference: string;
}

const DISTRIBUTION = /^\/2020-05-31\/distribution\/(\w+)\/invalidation$/;
const valuesOf = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value = '']) => value);

/**
 * CloudFront's API for invalidations, with its limits: at most 3,000 items, `Quantity` is their number, a reference is used
 * once. `fail` is asked for the code of an error before each answer.
 */
export async function fakeCloudFront(
  fail: () => readonly [status: number, code: string] | undefined = () => undefined,
) {
  const asked: Invalidation[] = [];
  async function answer(request: IncomingMessage): Promise<readonly [number, string]> {
    const [, distribution] = DISTRIBUTION.exec(request.url?.split('?')[0] ?? '') ?? [];
    const body = await text(request);
    if (!request.headers.authorization?.includes('/us-east-1/cloudfront/aws4_request')) return [403, 'AccessDenied'];
    if (request.method !== 'POST' || distribution === undefined) return [404, 'NoSuchDistribution'];
    const paths = valuesOf(body, 'Path');
    const [reference = ''] = valuesOf(body, 'CallerReference');
    const failure = fail();
    if (failure !== undefined) return failure;
    if (Number(valuesOf(body, 'Quantity')[0]) !== paths.length) return [400, 'InconsistentQuantities'];
    if (paths.length === 0 || paths.length > 3_000) return [413, 'BatchTooLarge'];
    if (asked.some((each) => each.reference === reference)) return [400, 'InvalidArgument'];
    asked.push({ distribution, paths, reference });
    return [201, ''];
  }
  const server = createServer((request, response) => {
    void answer(request).then(([status, code]) => {
      response.writeHead(status, { 'content-type': 'text/xml' });
      if (code !== '') {
        return response.end(
          `<ErrorResponse xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`,
        );
      }
      const batch = '<Paths><Quantity>1</Quantity></Paths><CallerReference>r</CallerReference>';
      return response.end(
        `<Invalidation xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Id>I1</Id><Status>InProgress</Status><CreateTime>2026-01-01T00:00:00Z</CreateTime><InvalidationBatch>${batch}</InvalidationBatch></Invalidation>`,
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
