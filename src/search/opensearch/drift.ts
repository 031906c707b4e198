import type { Key, Keyspace } from '../../keys/keyspace.js';
import type { Item } from '../../store/database.js';
import { hasSource } from '../../store/source/source-mapping.js';
import { documentOf, type RankBy } from '../document.js';
import type { SearchDocument } from '../engine.js';
import type { SearchTables } from '../follow.js';
import { idOf, isSameState, type Stored } from '../stored.js';
import type { Client } from './client.js';

/** Differences between an index and its table. */
export interface Drift {
  /** Collections in use, with their markers and zones, in the table. */
  readonly documents: number;
  /** Items that the index lacks, or has in an outdated state. */
  readonly missing: readonly Key[];
  /** Documents in the index without an item. */
  readonly extra: readonly Key[];
}

export interface DriftOptions {
  readonly client: Client;
  readonly alias: string;
  readonly keys: Keyspace;
  readonly tables: SearchTables;
  /** Reads the items of keys, strongly consistent. */
  readonly itemsOf: (keys: readonly Key[]) => Promise<readonly (Item | undefined)[]>;
  /** Waits until everything written before the call is in the index. */
  readonly settle: () => Promise<void>;
}

/** Number of documents compared together. */
const SOME = 500;
/** Maximum number of differences that are checked again; with more, the index must be rebuilt anyway. */
const MOST = 10_000;

/** The live documents with these IDs, as far as they exist. */
async function liveDocuments(client: Client, alias: string, ids: readonly string[]): Promise<Map<string, Stored>> {
  if (ids.length === 0) return new Map();
  const { body } = await client.mget({ index: alias, body: { ids: [...ids] } });
  const read = body.docs as unknown as readonly { readonly _id: string; readonly _source?: Stored }[];
  return new Map(
    read.flatMap(({ _id: id, _source: stored }) => (stored && stored.deletedAt === undefined ? [[id, stored]] : [])),
  );
}

/**
 * Compares an index with its table, while others write. Differences are compared again after a while, because the index
 * lags slightly behind.
 */
export async function findDrift(options: DriftOptions): Promise<Drift> {
  const { client, alias, keys, tables, itemsOf, settle } = options;
  const collections = await tables.listCollections();
  const rankBy: RankBy = new Map(collections.map((collection) => [keys.scope(collection), collection.rankBy]));
  const sources = new Set(collections.filter(hasSource).map((collection) => keys.scope(collection)));
  const differing = async (documents: readonly SearchDocument[]): Promise<Key[]> => {
    const stored = await liveDocuments(
      client,
      alias,
      documents.map(({ key }) => idOf(key)),
    );
    return documents.filter((document) => !isSameState(stored.get(idOf(document.key)), document)).map(({ key }) => key);
  };
  const documentsOf = (items: readonly (Item | undefined)[]) =>
    items.flatMap((item) => (item && documentOf(keys, item, rankBy)) ?? []);
  // Those of a deleted collection are not compared: it no longer says how they rank, and they are being removed.
  const inUse = (documents: readonly SearchDocument[]) => documents.filter(({ scope }) => rankBy.has(scope));

  let documents = 0;
  const missing: Key[] = [];
  for (let after: Key | null = null, more = true; more;) {
    const { items, next } = await tables.readItems(after);
    const some = inUse(documentsOf(items));
    documents += some.length;
    if (missing.length < MOST) missing.push(...(await differing(some)));
    after = next;
    more = next !== null;
  }
  await settle();
  const extra: Key[] = [];
  for await (const some of indexed(client, alias)) {
    // Markers of sources have no items.
    const own = some.filter((key) => !sources.has(keys.parseMarker(key)?.scope ?? ''));
    const found = documentsOf(await itemsOf(own));
    const known = new Set(found.map(({ key }) => idOf(key)));
    if (extra.length < MOST) extra.push(...own.filter((key) => !known.has(idOf(key))));
  }
  await settle();
  const still = await differing(inUse(documentsOf(await itemsOf(missing))));
  const left = await liveDocuments(
    client,
    alias,
    extra.map((key) => idOf(key)),
  );
  return { documents, missing: still, extra: extra.filter((key) => left.has(idOf(key))) };
}

/** The keys of all documents that searches find. */
async function* indexed(client: Client, alias: string): AsyncGenerator<Key[]> {
  for (let after: unknown[] | undefined; ;) {
    const request = { query: { match_all: {} }, sort: [{ id: 'asc' }], size: SOME, _source: ['pk', 'sk'] };
    const body = { ...request, ...(after ? { search_after: after } : {}) };
    const { hits } = (await client.search({ index: alias, body } as never)).body.hits;
    if (hits.length === 0) return;
    yield hits.map(({ _source: source }) => {
      const { pk, sk } = source as unknown as Key;
      return { pk, sk };
    });
    after = hits.at(-1)?.sort as unknown[] | undefined;
  }
}
