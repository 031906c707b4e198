import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { Told } from '../graphql/server.js';
import type { Log } from '../log.js';
import type { StreamReadiness } from './health.js';

declare module 'fastify' {
  interface FastifyReply {
    /** What its log line and metrics say of an operation. */
    told: Told | undefined;
  }
}

/** What a client may call its request, so that its lines can be found. */
const REQUEST_ID = /^[\w.:-]{1,128}$/;
/** The format of W3C Trace Context. */
const TRACE = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;
/** Clients choose the names of operations, so metrics keep only so many apart. */
const MOST_OPERATIONS = 200;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const textOf = (header: string | readonly string[] | undefined) => (typeof header === 'string' ? header : '');

/** A registry with the metrics of this process, which are sampled. */
export function processMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Adds the metrics of requests and of the stream to a registry; returns the function that counts a request. */
export function requestMetrics(registry: Registry, stream: () => StreamReadiness | null) {
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
  // All processes of a server show the same.
  const gauge = (name: string, help: string, value: (state: StreamReadiness) => number | null) =>
    new Gauge({
      name,
      help,
      registers,
      aggregator: 'max',
      collect() {
        const state = stream();
        this.set((state && value(state)) ?? NaN);
      },
    });
  gauge('cellport_stream_behind_seconds', 'How far counts and pages lag behind.', ({ behindMs }) =>
    behindMs === null ? null : behindMs / 1_000,
  );
  gauge('cellport_counts_exact', '1 if counts are exact, 0 after a gap.', ({ countsExact }) => Number(countsExact));
  gauge('cellport_dead_letters', 'Records that could not be counted.', ({ deadLetters }) => deadLetters);
  const names = new Set<string>();
  return ({ operation: name = 'anonymous', code = '' }: Told, seconds: number) => {
    if (names.size < MOST_OPERATIONS) names.add(name);
    const operation = names.has(name) ? name : 'other';
    requests.inc({ operation, code });
    durations.observe({ operation }, seconds);
  };
}

/**
 * Gives each request an ID, its client's own if it has one, and writes a line about it: who asked for which operation, and
 * what it took; no values.
 */
export function noteRequests(server: FastifyInstance, log: Log, count: (told: Told, seconds: number) => void): void {
  server.decorateReply('told', undefined);
  server.addHook('onRequest', async ({ headers }, reply) => {
    const wanted = textOf(headers['x-request-id']);
    const [trace, traceId] = TRACE.exec(textOf(headers['traceparent'])) ?? [];
    void reply.header('x-request-id', REQUEST_ID.test(wanted) ? wanted : (traceId ?? randomUUID()));
    if (trace !== undefined) void reply.header('traceparent', trace);
  });
  server.addHook('onResponse', async ({ method, routeOptions: { url: route = null } }, reply) => {
    const { told, statusCode: status, elapsedTime } = reply;
    if (told) count(told, elapsedTime / 1_000);
    const bytes = Number(reply.getHeader('content-length') ?? 0);
    const line = {
      request: reply.getHeader('x-request-id'),
      method,
      route,
      status,
      ms: Math.round(elapsedTime),
      bytes,
    };
    log.info({ ...line, ...told }, 'Answered a request');
  });
}
