import pLimit from 'p-limit';

import type { FollowedIndex, SearchChange, SearchEngine, SearchQuery } from './engine.js';
import type { Progress } from './follow.js';

/** What an index has of a source. */
interface SourcePart {
  /** How far its stream has been followed; null if its pages are to be read again. */
  readonly progress: Progress | null;
  /** The generation of pages that was read whole; null before the first. */
  readonly read: string | null;
}

/** The content of an index's checkpoint: the progress of the entities table, and what there is of each source. */
type Parts = Partial<Progress> & { readonly sources?: Readonly<Record<string, SourcePart>> };

/** Distinguishes the documents of a source from those of Cellport's own markers. */
const OF_SOURCE = 'source ';
const HITS_AT_A_TIME = 500;

const partsOf = (checkpoint: string | undefined) => JSON.parse(checkpoint ?? '{}') as Parts;

/** Scopes of the sources whose markers an index has, according to its checkpoint. */
export function sourcesIn(checkpoint: string | null | undefined): ReadonlySet<string> {
  const { sources = {} } = partsOf(checkpoint ?? undefined);
  return new Set(Object.keys(sources).filter((scope) => sources[scope]?.read));
}

/** One index that the entities table and sources are followed into, each with its own progress; all of it is stored together. */
export class IndexParts {
  readonly #engine: SearchEngine;
  /** Changes are written one after the other, so that each is stored with the progress that includes it. */
  readonly #line = pLimit(1);
  #parts: Parts = {};
  /** How often the index has been emptied. */
  #emptied = 0;

  constructor(engine: SearchEngine) {
    this.#engine = engine;
  }

  /** What the follower of the entities table writes, before all others. */
  own(): FollowedIndex {
    return {
      checkpoint: async () => {
        const stored = await this.#engine.checkpoint();
        if (stored === undefined) this.#emptied += 1;
        this.#parts = partsOf(stored);
        return stored;
      },
      write: (changes, checkpoint) => this.#write(changes, ({ sources = {} }) => ({ ...partsOf(checkpoint), sources })),
      clear: () =>
        this.#line(async () => {
          await this.#engine.clear();
          this.#parts = {};
          this.#emptied += 1;
        }),
    };
  }

  /** What the follower of a source writes. The name of its stream ends with the generation of its pages. */
  source(scope: string): FollowedIndex {
    let emptied = this.#emptied;
    const isGone = () => emptied !== this.#emptied || !this.isOpen;
    const put = (changes: readonly SearchChange[], change: (part: SourcePart) => SourcePart) =>
      this.#write(changes, (parts) => {
        if (isGone()) throw new Error('the search index has been emptied');
        return { ...parts, sources: { ...parts.sources, [scope]: change(this.#part(scope)) } };
      });
    return {
      checkpoint: () => {
        emptied = this.#emptied;
        const { progress } = this.#part(scope);
        return Promise.resolve(progress === null ? undefined : JSON.stringify(progress));
      },
      write: async (changes, checkpoint) => {
        const progress = JSON.parse(checkpoint) as Progress;
        const generation = progress.state.stream.split(' ').at(-1) ?? '';
        const incarnation = OF_SOURCE + generation;
        await put(
          changes.map((change) =>
            change.type === 'put' ? { ...change, document: { ...change.document, incarnation } } : change,
          ),
          (part) => ({ ...part, progress }),
        );
        if (progress.scan !== null || this.#part(scope).read === generation) return;
        await this.#forget(scope, incarnation);
        await put([], (part) => ({ ...part, read: generation }));
      },
      clear: async () => {
        if (!isGone()) await put([], (part) => ({ ...part, progress: null }));
      },
    };
  }

  /** Whether the progress of the entities table is known, before which nothing of sources may be stored. */
  get isOpen(): boolean {
    return this.#parts.state !== undefined;
  }

  /** Scopes of all sources that the index has, or had begun to read. */
  get sources(): readonly string[] {
    return Object.keys(this.#parts.sources ?? {});
  }

  /** Whether the index has the markers of the source with this scope. */
  hasRead(scope: string): boolean {
    return this.#part(scope).read !== null;
  }

  /** Forgets a source that has been deleted. */
  async drop(scope: string): Promise<void> {
    await this.#forget(scope);
    await this.#write([], ({ sources = {}, ...parts }) => {
      const { [scope]: _dropped, ...others } = sources;
      return { ...parts, sources: others };
    });
  }

  #part(scope: string): SourcePart {
    return this.#parts.sources?.[scope] ?? { progress: null, read: null };
  }

  #write(changes: readonly SearchChange[], change: (parts: Parts) => Parts): Promise<void> {
    return this.#line(async () => {
      const parts = change(this.#parts);
      await this.#engine.write(changes, JSON.stringify(parts));
      this.#parts = parts;
    });
  }

  /** Removes the documents of a source that are not of this incarnation: they were on pages that others have replaced. */
  async #forget(scope: string, kept?: string): Promise<void> {
    const query: SearchQuery = { words: [], scopes: [scope], area: undefined, near: undefined };
    let after: string | undefined;
    do {
      const hits = await this.#engine.search(query, { after, limit: HITS_AT_A_TIME });
      const old = hits.filter(({ incarnation }) => incarnation.startsWith(OF_SOURCE) && incarnation !== kept);
      const changes = old.map(({ key, incarnation }): SearchChange => ({ type: 'remove', key, incarnation }));
      if (changes.length > 0) await this.#write(changes, (parts) => parts);
      after = hits.length < HITS_AT_A_TIME ? undefined : hits.at(-1)?.position;
    } while (after !== undefined);
  }
}
