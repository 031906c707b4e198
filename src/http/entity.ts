import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { KeptAnswer } from '../map/tiles/kept-answer.js';
import { compressed, encodingFor } from './compression.js';
import { varyBy } from './vary.js';

/** How long an answer may be kept, by whom, and the names by which it can be dropped. */
export interface Caching {
  /** Whether everybody would get it. */
  readonly isForAnyone: boolean;
  /** For which caches that many share may keep it; 0 for not at all. */
  readonly sharedSeconds: number;
  readonly tags?: readonly string[] | undefined;
}

/** An answer with this body. */
export const entityOf = (body: Buffer, count = 0, expiresAt = Infinity): KeptAnswer => ({
  body,
  encoded: new Map(),
  hash: hash('sha256', body, 'base64url').slice(0, 22),
  count,
  expiresAt,
});

const cacheControl = ({ isForAnyone, sharedSeconds }: Caching) => {
  if (!isForAnyone) return 'private, no-cache';
  return sharedSeconds === 0 ? 'no-cache' : `public, max-age=0, must-revalidate, s-maxage=${sharedSeconds}`;
};

/** Whether `If-None-Match` has a tag. Unlike in `If-Match`, a weak one will do. */
const isKnown = (tag: string, known = '') =>
  known.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag);

/** Sends an answer in the encoding that the client prefers, with a strong ETag of it; 304 if the client has it, 204 if it is empty. */
export async function sendEntity(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  entity: KeptAnswer,
  type: string,
  caching: Caching,
): Promise<FastifyReply> {
  const encoding = encodingFor(headers['accept-encoding'] ?? '', entity.body.length);
  const etag = `"${entity.hash}${encoding === undefined ? '' : `-${encoding}`}"`;
  varyBy(reply, 'Accept-Encoding');
  void reply.headers({ etag, 'cache-control': cacheControl(caching) });
  if (caching.tags?.length) void reply.header('cache-tag', caching.tags.join(','));
  if (isKnown(etag, headers['if-none-match'])) return reply.code(304).send();
  if (entity.body.length === 0) return reply.code(204).send();
  void reply.type(type);
  if (encoding === undefined) return reply.send(entity.body);
  const body = entity.encoded.get(encoding) ?? (await compressed(encoding, entity.body));
  entity.encoded.set(encoding, body);
  return reply.header('content-encoding', encoding).send(body);
}
