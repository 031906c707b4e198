import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';

import { badInput, CellportError } from '../../errors.js';

/** How a request names its document, unchecked. */
interface Asked {
  readonly query?: unknown;
  readonly extensions?: unknown;
}

/** Texts of documents by SHA-256, in hexadecimal. */
export type DocumentsByHash = ReadonlyMap<string, string>;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Memory for documents that clients have sent together with their hash. */
const CACHE_BYTES = 8 * 1024 * 1024;

/** The text that a request sends, if it does: messages of graphql-ws have one that is empty beside a hash. */
const sent = (query: unknown): unknown => (query === '' || query === null ? undefined : query);

/** Whether a request has a hash, right or wrong. */
export const hasHash = ({ extensions }: Asked): boolean =>
  typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;

/** The hash in a request, as Apollo's persisted queries have it. Throws BAD_USER_INPUT. */
function hashIn({ query, extensions }: Asked): string | undefined {
  const named = ((extensions ?? {}) as Readonly<Record<string, unknown>>)['persistedQuery'] ?? undefined;
  if (named === undefined) return undefined;
  const { version, sha256Hash: hash } = named as Readonly<Record<string, unknown>>;
  if (version !== 1 || typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) {
    const allowed = '{"version": 1, "sha256Hash": …}, with the SHA-256 of the document in hexadecimal';
    throw badInput('extensions.persistedQuery', named, allowed);
  }
  const text = sent(query);
  if (typeof text !== 'string' || sha256(text) === hash) return hash;
  throw badInput('extensions.persistedQuery.sha256Hash', hash, `the SHA-256 of query, which is ${sha256(text)}`);
}

const UNTRUSTED = new CellportError(
  'FORBIDDEN',
  'this server executes only trusted documents (CELLPORT_DOCUMENTS), and this document is not one of them: its operator ' +
    'can add it with `cellport documents add`',
);

/** Finds the texts of documents that clients name by their hash; with a list, only those on it. */
export class PersistedDocuments {
  readonly #trusted: (() => Promise<DocumentsByHash>) | undefined;
  readonly #kept = new LRUCache<string, string>({
    maxSize: CACHE_BYTES,
    // A larger one is sent again each time, and does not replace all others.
    maxEntrySize: CACHE_BYTES / 16,
    sizeCalculation: ({ length }) => 2 * length + 200,
  });

  constructor(trusted: (() => Promise<DocumentsByHash>) | undefined) {
    this.#trusted = trusted;
  }

  /**
   * The document of a request, whatever that has in its place. Throws FORBIDDEN for one that is not trusted, and
   * PERSISTED_QUERY_NOT_FOUND for an unknown hash, after which clients send the text.
   */
  async find(request: Asked): Promise<unknown> {
    const hash = hashIn(request);
    const text = sent(request.query);
    if (this.#trusted !== undefined) {
      if (hash === undefined && typeof text !== 'string') return text;
      const listed = (await this.#trusted()).get(hash ?? sha256(String(text)));
      if (listed === undefined) throw UNTRUSTED;
      return listed;
    }
    if (hash !== undefined && typeof text === 'string') this.#kept.set(hash, text);
    if (hash === undefined || text !== undefined) return text;
    const kept = this.#kept.get(hash);
    if (kept !== undefined) return kept;
    throw new GraphQLError('PersistedQueryNotFound', { extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } });
  }
}
