import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { limitExceeded } from '../errors.js';
import type { RequestContext } from '../graphql/context.js';
import type { GraphqlServer } from '../graphql/server.js';
import type { DecisiveBlocks } from '../map/tiles/blocks.js';
import type { KeptAnswer } from '../map/tiles/kept-answer.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import { IN_PROCESS, type Addresses } from './addresses.js';
import type { Admit } from './admit.js';
import { sendEntity } from './entity.js';
import { varyBy } from './vary.js';

/** An answer, and how to send it. */
export interface Answer {
  readonly entity: KeptAnswer;
  readonly type: string;
  /** Names by which it is purged from caches that many share; without them, these do not keep it. */
  readonly tags?: readonly string[] | undefined;
  /** Names of headers on which it depends. */
  readonly vary?: readonly string[];
}

/**
 * Shared caches do not keep answers that took longer: what they have read may be purged before they arrive. Answers that are
 * kept in memory are sent at once the next time.
 */
const SHARED_WITHIN_MS = 800;

/** Answers a question of a request that GraphQL does not answer. Throws what refuses it. */
export type Answering = (
  request: FastifyRequest,
  reply: FastifyReply,
  units: number,
  question: (context: RequestContext) => Promise<Answer>,
) => Promise<FastifyReply>;

/** Throws LIMIT_EXCEEDED for an answer of so many bytes, if these are too many. */
export function checkAnswer(bytes: number, { maxAnswerBytes }: Limits): void {
  if (bytes <= maxAnswerBytes) return;
  throw limitExceeded('size of the answer', `more than ${maxAnswerBytes} bytes`, maxAnswerBytes, 'use a smaller limit');
}

/** Once a request is admitted, answers its question, and sends the answer so that caches may keep it as far as others would get it. */
export function answering(graphql: GraphqlServer, admit: Admit): Answering {
  return async (request, reply, units, question) => {
    const { headers, routeOptions } = request;
    const operation = routeOptions.url;
    const asked = await admit(request, reply, async ({ gone, waitedMs, address }) => {
      const { headers: budget, outcome } = await graphql.ask(
        { operation, headers, gone, waitedMs, address },
        units,
        async (context) => {
          const { access, services } = context;
          reply.told = { operation, principal: access?.principal.name ?? undefined };
          const { cacheSeconds = 0, db } = services;
          const began = db.clock.now();
          const answer = await question(context);
          checkAnswer(answer.entity.body.length, services.limits);
          const isQuick = db.clock.now() - began <= SHARED_WITHIN_MS;
          const validSeconds = Math.floor((answer.entity.expiresAt - db.clock.wall()) / 1_000);
          const sharedSeconds = answer.tags && isQuick ? Math.max(0, Math.min(cacheSeconds, validSeconds)) : 0;
          return { answer, isGuarded: access !== undefined, sharedSeconds };
        },
      );
      return { budget, outcome, isGone: gone.aborted };
    });
    if (asked === undefined) return reply;
    void reply.headers(Object.fromEntries(asked.budget));
    if (asked.isGone) return reply.code(503).send();
    if ('error' in asked.outcome) throw asked.outcome.error;
    const { answer, isGuarded, sharedSeconds } = asked.outcome.answer;
    varyBy(reply, ...(answer.vary ?? []), ...(isGuarded ? ['authorization', 'x-api-key'] : []));
    // Without a time for which others may keep them, rules may go by any header, such as that of cookies.
    const isForAnyone =
      headers.authorization === undefined && headers['x-api-key'] === undefined && !(isGuarded && sharedSeconds === 0);
    return sendEntity(request, reply, answer.entity, answer.type, { isForAnyone, sharedSeconds, tags: answer.tags });
  };
}

/** Refuses other methods than GET and HEAD. */
export function onlyGet(server: FastifyInstance): void {
  const refuse = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.code(405).header('allow', 'GET, HEAD').send();
  for (const url of ['/tiles/*', '/maps/*', '/ogc', '/ogc/*']) {
    const method = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'];
    // Before their bodies are looked at.
    server.route({ method, url, onRequest: refuse, handler: refuse });
  }
}

/**
 * An answer that is made of what a collection has in some blocks: from memory, if nothing has changed there. One without a
 * name is made each time, like those for principals who see some of the markers.
 */
export async function remembered(
  { services, map }: RequestContext,
  collection: Collection,
  name: readonly unknown[] | undefined,
  { ranges }: DecisiveBlocks,
  make: () => Promise<KeptAnswer>,
): Promise<KeptAnswer> {
  const { answers } = services;
  const { grant, source, version, createdAt } = collection;
  // Of a table that is read again and again, changes are not noted.
  if (name === undefined || grant?.rows !== undefined || source?.everyMs !== undefined) return make();
  const scope = map.keys.scope(collection);
  const full = JSON.stringify([scope, createdAt, version, [...(grant?.hidden ?? [])].sort(), ...name]);
  const since = answers.moment();
  const known = answers.get(full);
  if (known && known.expiresAt > services.db.clock.wall()) return known;
  const made = await make();
  answers.put(full, made, { scope, ranges }, since);
  return made;
}

const PATH = /^(\/[\w.~!$&'()*+;=:@%-]+)*$/;

/** The beginning of the paths by which clients reach this server, such as `/geo`: what trusted proxies have taken off. */
export function prefixOf({ raw: { headers, socket } }: FastifyRequest, addresses: Addresses): string {
  const told = addresses.isProxy(socket.remoteAddress ?? '') ? [headers['x-forwarded-prefix'] ?? []].flat() : [];
  const parts = told.join(',').split(',');
  const prefix = parts.map((part) => part.trim().replace(/\/+$/, '')).join('');
  return PATH.test(prefix) ? prefix : '';
}

/** The URL by which a client reaches `/`, without its slash: a trusted proxy tells its protocol and prefix. */
export function rootOf(request: FastifyRequest, addresses: Addresses): string {
  const { headers, socket }: IncomingMessage = request.raw;
  const { remoteAddress = '' } = socket;
  const isTold = remoteAddress.startsWith(IN_PROCESS) || addresses.isProxy(remoteAddress);
  const [told] = isTold ? String(headers['x-forwarded-proto']).split(/ *, */) : [];
  const protocol = told === 'https' || told === 'http' ? told : request.protocol;
  // Before HTTP/1.1, a request need not say it.
  return `${protocol}://${request.host || `localhost:${socket.localPort}`}${prefixOf(request, addresses)}`;
}
