import { maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { badInput, CellportError, limitExceeded } from '../errors.js';
import { formatted, MASKED, statusOfCode } from '../graphql/error-format.js';
import { withExtensions } from '../graphql/extensions.js';
import type { Log } from '../log.js';
import type { Limits } from '../model/limits.js';

/** The error for a request that never reached GraphQL; undefined for errors of the server. */
function refusal(
  error: Partial<FastifyError>,
  headers: FastifyRequest['headers'],
  limits: Limits,
): CellportError | undefined {
  if (error instanceof CellportError) return error;
  // Those of sending a file.
  if (error.name === 'RangeNotSatisfiableError') return badInput('range', headers.range, 'a part of the file');
  if (error.name === 'PreconditionFailedError') {
    const given = headers['if-match'] ?? headers['if-unmodified-since'];
    return badInput('if-match or if-unmodified-since', given, 'that of the file as it is');
  }
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return limitExceeded(
        'size of the body',
        `more than ${limits.maxBodyBytes} bytes`,
        limits.maxBodyBytes,
        'split it into several requests',
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return badInput('content-type', headers['content-type'], 'application/json');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return badInput('body', '', 'a JSON object with the string `query`');
    default:
  }
  // Fastify's own, those of parsing JSON, and that of a client that leaves are about the request; others may reveal anything.
  const isOfRequest = error.name === 'SyntaxError' || /^(FST_|ECONNRESET$)/.test(error.code ?? '');
  if (!isOfRequest || error.statusCode === undefined || error.statusCode >= 500) return undefined;
  return new CellportError('BAD_USER_INPUT', `cannot read the request: ${error.message ?? 'unknown reason'}`, {
    field: 'body',
    allowed: 'a JSON object with the string `query`',
  });
}

/** An option of Fastify: answers URLs for which it looks for no route, before any hook, in the format of all others. */
export function frameworkErrors(
  { statusCode = 400 }: Pick<FastifyError, 'statusCode'>,
  { url }: Pick<FastifyRequest, 'url'>,
  { raw }: Pick<FastifyReply, 'raw'>,
): void {
  const error = badInput('url', url, 'a path in percent-encoded UTF-8, without names that are too long');
  raw
    .writeHead(statusCode, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .end(JSON.stringify({ errors: [formatted(error)] }));
}

/** The status and the error for what Node cannot read as a request. */
function unreadable({ code, message }: NodeJS.ErrnoException): readonly [status: number, error: CellportError] {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const given = `more than ${maxHeaderSize} bytes`;
    return [431, limitExceeded('size of the URL and headers', given, maxHeaderSize, 'send shorter ones')];
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return [408, new CellportError('BAD_USER_INPUT', 'the request did not arrive in time; send it again')];
  return [400, new CellportError('BAD_USER_INPUT', `cannot read the request: ${message}`, { allowed: 'HTTP/1.1' })];
}

/** An option of Fastify: answers what Node cannot read, in the format of all others, and closes the connection. */
export function clientErrorHandler(reason: NodeJS.ErrnoException, socket: Socket): void {
  const [status, error] = unreadable(reason);
  const body = JSON.stringify({ errors: [formatted(error)] });
  const headers = `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}`;
  const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n${headers}\r\n\r\n${body}`;
  if (reason.code !== 'ECONNRESET' && socket.writable) socket.write(answer);
  socket.destroy(reason);
}

/**
 * Answers requests that fail before they reach GraphQL in GraphQL's format: bodies that are too large or not JSON, and
 * unknown paths. Errors of the server are masked and logged.
 */
export function handleErrors(server: FastifyInstance, limits: Limits, log: Log): void {
  server.setErrorHandler<Partial<FastifyError>>((error, request, reply) => {
    const refused = refusal(error, request.headers, limits);
    if (refused === undefined) log.error({ err: error, url: request.url }, 'A request failed with an unexpected error');
    else if (refused.code === 'UNAVAILABLE') log.warn({ err: refused }, refused.message);
    if (refused?.code === 'UNAUTHENTICATED') void reply.header('www-authenticate', 'Bearer realm="cellport"');
    const code = refused?.code ?? 'INTERNAL_SERVER_ERROR';
    reply.told = { operation: request.routeOptions.url, ...reply.told, code };
    const body = JSON.stringify({ errors: [refused === undefined ? MASKED : formatted(refused)] });
    // Requests of a flood are refused before anything of them is read.
    const text = code === 'THROTTLED' ? body : withExtensions(body, request.headers);
    // Otherwise the rest of the body would be read as the next request on this connection.
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') void reply.header('connection', 'close');
    // Caches may otherwise keep what is not there for one principal, and tell others.
    return reply
      .header('cache-control', 'no-store')
      .code(refused === undefined ? 500 : (error.statusCode ?? statusOfCode(refused.code)))
      .type('application/json; charset=utf-8')
      .send(text);
  });
  server.setNotFoundHandler((request, reply) => {
    const error = new CellportError('NOT_FOUND', `${request.url} does not exist`);
    // Caches may otherwise keep it for minutes: a file that one server lacks may exist on the next, during an update.
    return reply
      .code(404)
      .header('cache-control', 'no-store')
      .send({ errors: [formatted(error)] });
  });
}
