import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';

import { credentialIn } from '../access/credential.js';
import { CellportError } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import { operationIn, type OperationRequest, type OperationResult } from '../graphql/execution/pipeline.js';
import { only } from '../graphql/execution/subscriptions.js';
import type { Log } from '../log.js';
import type { Admit } from './admit.js';
import { foreignPage, isForeignPage } from './origins.js';
import type { SubscriptionsOptions } from './socket-protocol.js';
import { PING_EVERY_MS } from './websocket.js';

/** A client that has read nothing for this long is disconnected. */
const READ_TIMEOUT_MS = 20_000;

const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  // Keeps nginx from buffering the stream.
  'x-accel-buffering': 'no',
};

/** Writes a text; resolves when it has left this process, so that callers produce no more before. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.writableEnded || response.destroyed) return;
  const late = setTimeout(() => response.destroy(), READ_TIMEOUT_MS);
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(text, () => {
      response.off('close', resolve);
      resolve();
    });
  });
  clearTimeout(late);
}

const NEEDS_POST = new CellportError('BAD_USER_INPUT', 'mutations need POST; got GET', { field: 'method' });

/** The events of one stream, and how they are written. */
export interface Events<T> {
  readonly events: AsyncIterable<T>;
  readonly textOf: (event: T) => Promise<string>;
  /** The event that tells why the stream has been ended. */
  readonly endOf: (reason: CellportError) => T;
  /** Written last; empty for nothing. */
  readonly last: string;
  /** Ends the events. */
  readonly stop: () => void;
}

/**
 * Sends events until they end, or something ends them: `hold` is given what does, and returns what ends that. Never rejects. The
 * handler of graphql-sse would read events as fast as they come, and buffer without limit for a slow client.
 */
export async function sendEvents<T>(
  reply: FastifyReply,
  { events, textOf, endOf, last, stop }: Events<T>,
  hold: (end: (reason: CellportError) => void) => () => void,
  log: Log,
): Promise<void> {
  const response = reply.hijack().raw;
  let ended: CellportError | undefined;
  const release = hold((reason) => {
    ended ??= reason;
    stop();
  });
  const pinging = setInterval(() => {
    if (response.writableLength === 0) void write(response, ':\n\n');
  }, PING_EVERY_MS);
  try {
    response.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...HEAD });
    await write(response, ':\n\n');
    for await (const event of events) {
      if (ended !== undefined) break;
      await write(response, await textOf(event));
    }
    if (ended !== undefined) await write(response, await textOf(endOf(ended)));
    if (last !== '') await write(response, last);
  } catch (err) {
    log.error({ err }, 'An event stream failed with an unexpected error');
    response.destroy();
  } finally {
    release();
    clearInterval(pinging);
    response.end();
  }
}

/** Serves operations as server-sent events from `/graphql/stream`: the protocol of graphql-sse with one connection per operation. */
export function addEventStreams(
  server: FastifyInstance,
  { graphql, allowedOrigins, log }: SubscriptionsOptions,
  admit: Admit,
): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql/stream',
    handler: async (request, reply) => {
      const { method, query, headers } = request;
      if (isForeignPage(headers, allowedOrigins)) throw foreignPage(headers);
      const credential = credentialIn(headers);
      const access = await graphql.accessOf(credential);
      // A subscription holds its place until it has started; others do not wait for its end.
      const started = await admit(request, reply, async ({ body, ...caller }) => {
        const asked = method === 'GET' ? operationIn(query as Readonly<Record<string, string | undefined>>) : body;
        const forbidsWrites = method === 'GET' ? NEEDS_POST : undefined;
        return graphql.subscribe((asked ?? {}) as OperationRequest, { ...caller, access, forbidsWrites });
      });
      if (started === undefined) return reply;
      const answers: AsyncIterableIterator<OperationResult> = 'errors' in started ? only(started) : started.answers;
      const events: Events<OperationResult> = {
        events: answers,
        textOf: async (answer) => `event: next\ndata: ${await graphql.write(answer)}\n\n`,
        endOf: (reason) => ({ errors: [formatted(reason)] }),
        last: 'event: complete\ndata: \n\n',
        stop: () => void answers.return?.(undefined),
      };
      void sendEvents(reply, events, (end) => graphql.hold(credential, access, end), log);
    },
  });
}
