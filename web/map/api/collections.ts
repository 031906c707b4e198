import type { Bounds } from '../../../src/client/public.js';
import type { Viewer } from '../../access/viewer.js';
import { BOUNDS, COLLECTION_DETAILS, COLLECTIONS, COUNTS, type Collection } from './documents.js';
import { request } from './graphql.js';
import { learnViewer } from './permissions.js';

/** How often the next page of collections is read again while the page is visible. */
const EVERY_MS = 10_000;
/** Delay after a change, so that counts include it; further changes within this time cause no extra request. */
const SOON_MS = 2_000;

/** Maximum number of empty collections that are checked again each time. */
const MAX_EMPTY = 5;

interface Page<C> {
  readonly viewer: Viewer;
  readonly collections: {
    readonly nodes: readonly C[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

/** A position between two pages: the cursor and the key of the last collection before it. */
interface Cursor {
  readonly after: string;
  readonly key: string;
}

const hasNothing = ({ count, zones }: Collection) => count === 0 && zones.nodes.length === 0;

function cursorAfter({ collections: { nodes, pageInfo } }: Page<{ readonly key: string }>): Cursor | undefined {
  const last = nodes.at(-1);
  return pageInfo.hasNextPage && pageInfo.endCursor !== null && last
    ? { after: pageInfo.endCursor, key: last.key }
    : undefined;
}

/** The first page of collections, and the start of the second. */
export interface FirstCollections {
  readonly collections: readonly Collection[];
  readonly next: Cursor | undefined;
}

export async function readFirstCollections(): Promise<FirstCollections> {
  const page = await request<Page<Collection>>(COLLECTIONS);
  learnViewer(page.viewer);
  return { collections: page.collections.nodes, next: cursorAfter(page) };
}

/** The bounding box of a collection's markers; null while it has none. */
export async function readBounds(key: string, signal?: AbortSignal): Promise<Bounds | null> {
  const answer = await request<{ readonly collection: { readonly bounds: Bounds | null } | null }>(
    BOUNDS,
    { key },
    signal,
  );
  return answer.collection?.bounds ?? null;
}

/** Maximum number of keys that are looked up at once. */
const MAX_KEYS = 50;

/** Those of these keys that no collection has; none if that cannot be found out. */
export async function keysWithout(keys: readonly string[]): Promise<readonly string[]> {
  if (keys.length === 0) return [];
  const asked = keys.slice(0, MAX_KEYS);
  const ids = asked.map((key) => `collection::${key}`);
  const answer = await request<{ readonly nodes: readonly unknown[] }>(COLLECTION_DETAILS, { ids }).catch(
    () => undefined,
  );
  return asked.filter((_, index) => answer?.nodes[index] === null);
}

/**
 * Keeps the collections, and what may be done with them, up to date: reads those after the first page, then one page every ten seconds in rotation, so
 * that the cost does not grow with their number. Rereads only names and counts, and nothing while the page is hidden.
 */
export class CollectionFeed {
  readonly #onChange: (collections: readonly Collection[]) => void;
  #known: ReadonlyMap<string, Collection>;
  /** Keys missing from their page. They are dropped if they are missing again: a response may be slightly stale. */
  #missing: ReadonlySet<string> = new Set();
  /** Start of the next page to read. */
  #from: Cursor | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = Infinity;
  #reading = false;

  constructor({ collections, next }: FirstCollections, onChange: (collections: readonly Collection[]) => void) {
    this.#onChange = onChange;
    this.#known = new Map(collections.map((each) => [each.key, each]));
    this.#from = next;
    this.#schedule(next ? 0 : EVERY_MS);
    document.addEventListener('visibilitychange', () => this.#schedule(0));
  }

  /** Reads again soon, after a change. */
  refresh(): void {
    this.#schedule(SOON_MS);
  }

  /** Adds a collection that this page has created. */
  add(collection: Collection): void {
    this.#set(new Map(this.#known).set(collection.key, collection));
  }

  #schedule(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.#due || document.hidden) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => void this.#step(), ms);
  }

  async #step(): Promise<void> {
    this.#due = Infinity;
    if (this.#reading) return;
    this.#reading = true;
    // The layers report a server that does not respond.
    const isIncomplete = await this.#read().catch(() => false);
    this.#reading = false;
    this.#schedule(isIncomplete ? 0 : EVERY_MS);
  }

  /** Reads the next page. Returns whether the page after it has never been read. */
  async #read(): Promise<boolean> {
    const from = this.#from;
    const variables = { after: from?.after };
    const page = await request<Page<Pick<Collection, 'key' | 'name' | 'count'>>>(COUNTS, variables);
    const { nodes } = page.collections;
    const next = cursorAfter(page);
    const isOther = learnViewer(page.viewer);
    const read = await this.#details(nodes.map(({ key }) => key));

    const inPage = (key: string) => (!from || key > from.key) && (!next || key <= next.key);
    const found = new Set(nodes.map(({ key }) => key));
    const missing = new Set([...this.#known.keys()].filter((key) => inPage(key) && !found.has(key)));
    const known = new Map(this.#known);
    for (const key of missing) if (isOther || this.#missing.has(key)) known.delete(key);
    for (const each of read) known.set(each.key, each);
    for (const { key, name, count } of nodes) {
      const before = known.get(key);
      if (before && (before.name !== name || before.count !== count)) known.set(key, { ...before, name, count });
    }
    this.#missing = new Set([...[...this.#missing].filter((key) => !inPage(key)), ...missing]);
    this.#from = next;
    this.#set(known, isOther);
    return next !== undefined && ![...known.keys()].some((key) => key > next.key);
  }

  /** Details of those of these collections that are new or no longer empty. */
  async #details(keys: readonly string[]): Promise<readonly Collection[]> {
    const isNew = (key: string) => !this.#known.has(key);
    const empty = keys.filter((key) => {
      const known = this.#known.get(key);
      return known !== undefined && hasNothing(known);
    });
    const ids = [...keys.filter(isNew), ...empty.slice(0, MAX_EMPTY)].map((key) => `collection::${key}`);
    if (ids.length === 0) return [];
    const { nodes } = await request<{ readonly nodes: readonly (Collection | null)[] }>(COLLECTION_DETAILS, { ids });
    return nodes.flatMap((each) => (each !== null && (isNew(each.key) || !hasNothing(each)) ? [each] : []));
  }

  #set(known: ReadonlyMap<string, Collection>, isOther = false): void {
    const isSame = known.size === this.#known.size && [...known].every(([key, each]) => this.#known.get(key) === each);
    this.#known = known;
    if (!isSame || isOther) this.#onChange([...known.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1)));
  }
}
