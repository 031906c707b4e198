import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { CellportError } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import { withExtensions } from '../graphql/extensions.js';
import type { Log } from '../log.js';
import type { Limits } from '../model/limits.js';
import { FEW, type Admission } from '../scheduling/admission.js';
import type { ClientLimits } from './client-limits.js';
import { keepBodies } from './json-limit.js';

/** Refusing a text this small would cost as much as reading and parsing it. */
export const SMALL_BYTES = 16 * 1024;
export const RETRY_AFTER_S = 1;
export const OVERLOADED = new CellportError('UNAVAILABLE', 'the server is overloaded; retry later', {
  retryAfterMs: 1_000 * RETRY_AFTER_S,
});
const REFUSAL = `${JSON.stringify({ errors: [formatted(OVERLOADED)] })}\n`;
/** The answer to a request that is refused. */
export const refusalOf = (headers: IncomingHttpHeaders): string => withExtensions(REFUSAL, headers);

/** A request that has been admitted. */
export interface Admitted {
  /** The JSON of its body; undefined if it has none. */
  readonly body: unknown;
  /** How long it has waited, in milliseconds. */
  readonly waitedMs: number;
  /** Aborted when the connection closes before the answer has been sent. */
  readonly gone: AbortSignal;
  /** The address of the client. */
  readonly address: string;
}

/**
 * Does the work of a request once it is admitted, which holds a place until then; answers with 503 and resolves to
 * undefined if it is refused.
 */
export type Admit = <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (admitted: Admitted) => Promise<T>,
) => Promise<T | undefined>;

function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** Any word in the body may be taken for that of a mutation: such a request is only less impatient. */
export const kindOf = ({ body }: FastifyRequest) =>
  Buffer.isBuffer(body) && body.includes('mutation') ? 'write' : 'read';

/** The size of a body according to its head, in bytes; the largest that is allowed if the head does not say. */
function announcedBytes({ headers }: FastifyRequest, { maxBodyBytes }: Limits): number {
  if (headers['transfer-encoding'] !== undefined) return maxBodyBytes;
  return Math.min(Number(headers['content-length'] ?? 0), maxBodyBytes);
}

/**
 * Makes the routes of `server` that call the returned function pass admission. Bodies wait unparsed and outside the
 * heap; those that are not small count before they have arrived, so that all of them have at most 64 times the allowed size of one.
 */
export function admitRequests(
  server: FastifyInstance,
  admission: Admission,
  clients: ClientLimits,
  limits: Limits,
  log: Log,
): Admit {
  const parse = keepBodies(server, limits);
  let heldBytes = 0;

  function refuse(reply: FastifyReply) {
    log.warn({}, OVERLOADED.message);
    const body = refusalOf(reply.request.headers);
    return reply.code(503).header('retry-after', RETRY_AFTER_S).type('application/json; charset=utf-8').send(body);
  }

  server.addHook('onRequest', async (request, reply) => {
    const bytes = announcedBytes(request, limits);
    if (bytes <= SMALL_BYTES) return undefined;
    // Closing the connection discards the body.
    if (heldBytes + bytes > FEW * limits.maxBodyBytes) return refuse(reply.header('connection', 'close'));
    heldBytes += bytes;
    reply.raw.once('close', () => {
      heldBytes -= bytes;
    });
    return undefined;
  });

  return async (request, reply, work) => {
    const gone = goneSignal(reply);
    const place = await admission[kindOf(request)].enter(gone);
    if (place === undefined) {
      if (!gone.aborted) void refuse(reply);
      return undefined;
    }
    try {
      const address = clients.addressOf(request.raw);
      return await work({ body: await parse(request), waitedMs: place.waitedMs, gone, address });
    } finally {
      place.leave();
    }
  };
}
