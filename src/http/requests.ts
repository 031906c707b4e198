import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';

import type { Told } from '../graphql/server.js';
import type { Log } from '../log.js';
import { fewNames } from '../model/few-names.js';

declare module 'fastify' {
  interface FastifyReply {
    /** What its log line and metrics say of an operation. */
    told: Told | undefined;
  }
}

/** What a client may call its request, so that its lines can be found. */
const REQUEST_ID = /^[\w.:-]{1,128}$/;
/** The format of W3C Trace Context. */
const TRACE = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const textOf = (header: string | readonly string[] | undefined) => (typeof header === 'string' ? header : '');

/** Status codes of what a server does not want to answer, or not now. */
const REFUSED: Readonly<Record<number, string>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  429: 'throttled',
  503: 'unavailable',
};

export type Counted = ReturnType<typeof countRequests>;

/** Adds the metrics of requests to a registry; returns the functions that count an operation, and a status. */
export function countRequests(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: 'cellport_requests_total',
    help: 'Operations by name, and by the code of their first error.',
    labelNames: ['operation', 'code'],
    registers,
  });
  const durations = new Histogram({
    name: 'cellport_request_duration_seconds',
    help: 'Time from the arrival of an operation to its answer.',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  });
  const refused = new Counter({
    name: 'cellport_refused_total',
    help: 'Requests and WebSockets that were refused.',
    labelNames: ['reason'],
    registers,
  });
  const few = fewNames();
  return {
    operation: ({ operation: name = 'anonymous', code = '' }: Told, seconds: number): void => {
      const operation = few(name);
      requests.inc({ operation, code });
      durations.observe({ operation }, seconds);
    },
    status: (status: number): void => {
      const reason = REFUSED[status];
      if (reason !== undefined) refused.inc({ reason });
    },
  };
}

/**
 * Gives each request an ID, its client's own if it has one, and writes a line about it: who asked for which operation, and
 * what it took; no values.
 */
export function noteRequests(server: FastifyInstance, log: Log, count: Counted): void {
  server.decorateReply('told', undefined);
  const noted = new WeakSet<FastifyReply>();
  const note = ({ method, routeOptions: { url: route } }: FastifyRequest, reply: FastifyReply): void => {
    if (noted.has(reply)) return;
    noted.add(reply);
    const { elapsedTime, raw } = reply;
    // Nginx has this status for clients that have gone before they had an answer.
    const isAbandoned = raw.destroyed && !raw.headersSent;
    const status = isAbandoned ? 499 : reply.statusCode;
    const told = isAbandoned ? { operation: route, code: 'ABANDONED' } : reply.told;
    if (told) count.operation(told, elapsedTime / 1_000);
    // It says that the server is not ready.
    if (route !== '/readyz') count.status(status);
    const bytes = Number(reply.getHeader('content-length') ?? 0);
    const line = {
      request: reply.getHeader('x-request-id'),
      method,
      route: route ?? null,
      status,
      ms: Math.round(elapsedTime),
      bytes,
    };
    log.info({ ...line, ...told }, isAbandoned ? 'A client has gone before its answer' : 'Answered a request');
  };
  server.addHook('onRequest', async (request, reply) => {
    const { headers } = request;
    const wanted = textOf(headers['x-request-id']);
    const [trace, traceId] = TRACE.exec(textOf(headers['traceparent'])) ?? [];
    void reply.header('x-request-id', REQUEST_ID.test(wanted) ? wanted : (traceId ?? randomUUID()));
    if (trace !== undefined) void reply.header('traceparent', trace);
    // Event streams, too, end when their client goes.
    reply.raw.once('close', () => note(request, reply));
  });
  server.addHook('onResponse', async (request, reply) => note(request, reply));
}
