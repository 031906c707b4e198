import type { FastifyReply } from 'fastify';

/** Tells caches that a response depends on headers, too. */
export function varyBy(reply: FastifyReply, ...names: readonly string[]): void {
  const before = [reply.getHeader('vary') ?? []].flat().join(', ');
  const named = before.toLowerCase().split(/, */);
  const more = names.filter((name) => !named.includes(name.toLowerCase()));
  if (more.length > 0) void reply.header('vary', [before, ...more].filter(Boolean).join(', '));
}
