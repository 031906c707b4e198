import { createHash, randomUUID } from 'node:crypto';

import { statusOf, type Client } from './client.js';

/**
 * Names the mapping below and what is written into it, in the names of indexes: raise it with any change of either. An index of
 * another layout stays in use until `cellport reindex`.
 */
export const INDEX_LAYOUT = 1;

/**
 * Only these fields are indexed, whatever else a document holds: text of clients is in `name` and `text`, and never becomes the
 * name of a field. Words are separated by Cellport, so that both engines find the same.
 */
const MAPPINGS = {
  dynamic: false,
  properties: {
    id: { type: 'keyword' },
    scope: { type: 'keyword' },
    deletedAt: { type: 'date', format: 'epoch_millis' },
    folded: { type: 'keyword' },
    name: { type: 'text', analyzer: 'words', norms: false, index_prefixes: { min_chars: 1, max_chars: 4 } },
    text: { type: 'text', analyzer: 'words', norms: false, index_prefixes: { min_chars: 1, max_chars: 4 } },
    trigrams: { type: 'keyword', doc_values: false },
    rank: { type: 'double' },
    // Exact to the last digit, which a geo_point is not.
    lng: { type: 'double_range' },
    lat: { type: 'double_range' },
    location: { type: 'geo_point' },
    shape: { type: 'geo_shape' },
  },
};

const SETTINGS = {
  index: {
    // Set, so that it also holds after half a minute without a search.
    refresh_interval: '1s',
    max_result_window: 200_000,
    analysis: {
      tokenizer: { words: { type: 'whitespace', max_token_length: 300 } },
      analyzer: { words: { type: 'custom', tokenizer: 'words' } },
    },
  },
};

/** The names of a table's indexes: each has a name of its own, and searches go to the alias of the current one. */
export interface SearchIndexNames {
  readonly alias: string;
  /** A new name that no index had before. */
  next(): string;
  /** Whether an index has the present layout. */
  isCurrent(index: string): boolean;
  /** By this alias changes are written, so that a late one does not create a deleted index again. */
  writing(index: string): string;
  readonly pattern: string;
}

/** The names for a table. `identity` distinguishes it from others of its name; names of indexes have no capitals. */
export function indexNames(table: string, identity: string): SearchIndexNames {
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 10);
  const alias = `cellport-${table.toLowerCase().slice(0, 180)}-${hash}`;
  // No table has a tilde in its name, so that none is the beginning of another one's.
  const layout = `${alias}~${INDEX_LAYOUT}-`;
  return {
    alias,
    next: () => layout + randomUUID().slice(0, 13),
    isCurrent: (index) => index.startsWith(layout),
    writing: (index) => `${index}~writing`,
    pattern: `${alias}~*`,
  };
}

/** Creates an empty index. */
export async function createIndex(client: Client, names: SearchIndexNames, index: string): Promise<void> {
  await client.indices.putIndexTemplate({
    name: names.alias,
    body: { index_patterns: [names.pattern], template: { settings: SETTINGS, mappings: MAPPINGS } as never },
  });
  await client.indices.create({ index, body: { aliases: { [names.writing(index)]: {} } } });
}

/** Whether there is such an index. */
export async function hasIndex(client: Client, index: string): Promise<boolean> {
  return index !== '' && (await client.indices.exists({ index })).body;
}

/** Makes searches go to an index and no other one, in one step. Deleted items are hidden from them. */
export async function pointAlias(client: Client, { alias, pattern }: SearchIndexNames, index: string): Promise<void> {
  const hidden = { bool: { must_not: { exists: { field: 'deletedAt' } } } };
  const actions = [{ remove: { index: pattern, alias, must_exist: false } }, { add: { index, alias, filter: hidden } }];
  await client.indices.updateAliases({ body: { actions } });
}

/** Deletes the indexes of a table that are not among those given. */
export async function dropOthers(client: Client, names: SearchIndexNames, kept: readonly string[]): Promise<void> {
  const { body } = await client.indices.get({ index: names.pattern, allow_no_indices: true, expand_wildcards: 'all' });
  const others = Object.keys(body).filter((name) => !kept.includes(name));
  for (const index of others) {
    await client.indices.delete({ index }).catch((error: unknown) => {
      if (statusOf(error) !== 404) throw error;
    });
  }
}
