import type { FastifyInstance, FastifyRequest } from 'fastify';

import { badInput, limitExceeded, type CellportError } from '../errors.js';
import type { Limits } from '../model/limits.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LIST = 0x5b;
const OBJECT = 0x7b;
const COLON = 0x3a;
/** Denser JSON, for example megabytes of brackets, takes up to ten times as long to parse as ordinary JSON. */
const BYTES_PER_STRUCTURE = 20;

/** Whether a JSON text has more than `most` lists, objects and names. Takes some milliseconds for each million characters. */
export function hasMoreStructure(text: string, most: number): boolean {
  // Each takes a character at least.
  if (text.length <= most) return false;
  let count = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (isInString) at += code === BACKSLASH ? 1 : 0;
    else if ((code === LIST || code === OBJECT || code === COLON) && (count += 1) > most) return true;
  }
  return false;
}

/** LIMIT_EXCEEDED if parsing a JSON text would take long because of its many lists, objects and names. */
export function denseJson(text: string, { maxBodyBytes }: Limits): CellportError | undefined {
  const most = Math.ceil(maxBodyBytes / BYTES_PER_STRUCTURE);
  if (!hasMoreStructure(text, most)) return undefined;
  const what = 'number of lists, objects and names in the JSON';
  return limitExceeded(what, `more than ${most}`, most, 'split it into several requests');
}

/** Parses the body of a request with content type JSON; throws if it is not JSON, or would take long to parse. */
export type ParseJson = (request: FastifyRequest) => Promise<unknown>;

/** Keeps bodies as they arrive, so that a request that is refused has not cost parsing; returns what parses them. */
export function keepBodies(server: FastifyInstance, limits: Limits): ParseJson {
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => body,
  );
  // Names like `__proto__` are ordinary data: nothing copies a body in a way that they would affect.
  const parse = server.getDefaultJsonParser('ignore', 'ignore');
  return (request) =>
    new Promise((resolve, reject) => {
      // Undefined if there is none.
      if (!Buffer.isBuffer(request.body)) return resolve(request.body);
      const { 'content-encoding': encoding = 'identity' } = request.headers;
      if (encoding !== 'identity') return reject(badInput('content-encoding', encoding, 'identity, or none'));
      const text = request.body.toString();
      const refused = denseJson(text, limits);
      if (refused !== undefined) return reject(refused);
      void parse(request, text, (error, body: unknown) => (error ? reject(error) : resolve(body)));
    });
}
