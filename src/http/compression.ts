import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

import { varyBy } from './vary.js';

type Encoding = 'br' | 'gzip';

/** A shorter body fits into one packet anyway. */
const LEAST_BYTES = 1_024;
/** Large enough for most compressed bodies, so that zlib returns from its thread only once. */
const CHUNK_BYTES = 64 * 1024;

const brotlied = promisify(brotliCompress);
const gzipped = promisify(gzip);

/** Both run in a thread. Higher levels take several times as long to save another tenth. */
const COMPRESS: Readonly<Record<Encoding, (body: string | Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    brotlied(body, {
      chunkSize: CHUNK_BYTES,
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => gzipped(body, { chunkSize: CHUNK_BYTES, level: 5 }),
};

/** A body in an encoding. */
export const compressed = (encoding: Encoding, body: string | Buffer): Promise<Buffer> => COMPRESS[encoding](body);

/** The quality of each value in a header such as `Accept`, 1 where none is said; names are in lower case. */
export const qualitiesIn = (header: string): ReadonlyMap<string, number> =>
  new Map(
    header
      .toLowerCase()
      .split(',')
      .map((each) => {
        const [name = '', ...parameters] = each.split(';').map((part) => part.trim());
        const quality = parameters.find((part) => part.startsWith('q='))?.slice(2) ?? '1';
        return [name, Number(quality) || 0] as const;
      }),
  );

/** The encoding that a client prefers, brotli if it has no preference; undefined if it accepts neither, or for a short body. */
export function encodingFor(accepted: string, length: number): Encoding | undefined {
  if (length < LEAST_BYTES) return undefined;
  const qualities = qualitiesIn(accepted);
  const qualityOf = (name: Encoding) => qualities.get(name) ?? qualities.get('*') ?? 0;
  const best = qualityOf('br') >= qualityOf('gzip') ? 'br' : 'gzip';
  return qualityOf(best) > 0 && qualityOf(best) >= (qualities.get('identity') ?? 0) ? best : undefined;
}

/** Compresses JSON and HTML sent in one piece, for clients that accept it. */
export function compressText(server: FastifyInstance): void {
  server.addHook('onSend', async ({ headers }, reply, body) => {
    if (typeof body !== 'string' && !Buffer.isBuffer(body)) return;
    if (body.length < LEAST_BYTES || reply.hasHeader('content-encoding')) return;
    if (!/json|html/.test(String(reply.getHeader('content-type')))) return;
    varyBy(reply, 'Accept-Encoding');
    const encoding = encodingFor(headers['accept-encoding'] ?? '', body.length);
    if (encoding === undefined) return;
    void reply.header('content-encoding', encoding).removeHeader('content-length');
    return compressed(encoding, body);
  });
}
