import type { Invalidation } from './fake-cloudfront.js';
import { quickly } from './quickly.js';

/** What a client gets. */
export interface Got {
  /** The status, and what follows it. */
  readonly body: string;
  readonly etag: string | null;
}

interface Copy extends Got {
  readonly tags: readonly string[];
  /** The number of invalidations before it was asked for. */
  readonly since: number;
}

/**
 * An edge of a CDN, in front of a server: it keeps what shared caches may keep until one of its tags is purged, however
 * long that takes. Clients send no credentials.
 */
export function openEdge(origin: () => string, purged: readonly Invalidation[]) {
  const copies = new Map<string, Copy>();
  const isPurged = ({ tags, since }: Copy) =>
    purged.slice(since).some(({ paths }) => tags.some((tag) => paths.includes(`#${tag}`)));
  function kept(path: string): Copy | undefined {
    const copy = copies.get(path);
    return copy && !isPurged(copy) ? copy : undefined;
  }
  /** What the server says. */
  async function ask(path: string): Promise<Copy & { readonly isKept: boolean }> {
    const since = purged.length;
    const answer = await fetch(origin() + path, { headers: { 'accept-encoding': 'identity' } });
    const { ok, status, headers } = answer;
    const body = `${status} ${Buffer.from(await answer.arrayBuffer()).toString('latin1')}`;
    const isKept = ok && /s-maxage=[1-9]/.test(headers.get('cache-control') ?? '');
    const tags = headers.get('cache-tag')?.split(',') ?? [];
    return { body, etag: headers.get('etag'), tags, since, isKept };
  }
  return {
    has: (path: string) => kept(path) !== undefined,
    async get(path: string): Promise<Got> {
      const copy = kept(path);
      if (copy) return copy;
      const made = await quickly(() => ask(path));
      if (made.isKept) copies.set(path, made);
      return made;
    },
    ask,
  };
}
