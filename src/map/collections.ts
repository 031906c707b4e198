import { compareBytes } from '../keys/byte-order.js';
import type { Loaders } from '../loaders/loaders.js';
import type { Collection } from '../model/collection.js';
import { type CollectionAnswers, storedAnswers } from './answers.js';
import type { MapContext } from './context.js';

/** All collections of a server, in either kind of table. */
export interface Collections {
  readonly collectionPage: Loaders['collections']['page'];
  /** The implementation that answers for the collection with this key. */
  readonly answers: (key: string) => CollectionAnswers;
}

/** The collections in Cellport's own tables. */
export function storedCollections(map: MapContext): Collections {
  return { answers: (key) => storedAnswers(map, key), collectionPage: (page) => map.loaders.collections.page(page) };
}

/** Collections with one of another kind; a stored collection with its key is hidden. */
export function withForeign(stored: Collections, own: Collection, answers: CollectionAnswers): Collections {
  return {
    answers: (key) => (key === own.key ? answers : stored.answers(key)),
    async collectionPage(page) {
      const { collections, more } = await stored.collectionPage(page);
      const last = collections.at(-1)?.key ?? '';
      if (own.key <= (page.after ?? '') || (more && own.key > last)) return { collections, more };
      const all = [...collections.filter(({ key }) => key !== own.key), own].toSorted((a, b) =>
        compareBytes(a.key, b.key),
      );
      return { collections: all.slice(0, page.first), more: more || all.length > page.first };
    },
  };
}
