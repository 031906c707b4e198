import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { silentLog } from '../log.js';
import { readOn } from '../map/connection.js';
import { requireIndexed, searchText, type FoundEdge, type TextSearchInput } from '../map/text-search.js';
import { openEmbeddedReaders } from '../search/embedded/embedded-engine.js';
import type { SearchReader } from '../search/engine.js';
import { readCheckpoint } from '../search/follow.js';
import { sourcesIn } from '../search/index-parts.js';
import { openStream } from '../stream/source/dynamodb.js';
import type { Backend } from './backend.js';
import { oneQuery } from './one-query.js';

/** The result of a search. */
export interface FoundText {
  readonly edges: readonly FoundEdge[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
  readonly total: number;
  /** When the index was last known to be up to date, in milliseconds since 1970. */
  readonly asOf: number;
}

/** The indexes to choose from, and where they are stored. */
interface Candidates {
  readonly where: string;
  readonly readers: readonly SearchReader[];
  close(): Promise<void>;
}

async function openCandidates({ openSearchUrl, dataDir }: Config, backend: Backend): Promise<Candidates> {
  if (openSearchUrl !== undefined) {
    const { openCluster } = await import('./search-cluster.js');
    const cluster = await openCluster(openSearchUrl, backend, silentLog);
    return { where: 'OpenSearch', readers: [cluster.reader], close: () => cluster.close() };
  }
  const readers = await openEmbeddedReaders(dataDir, backend.database.tables.entities);
  return {
    where: dataDir,
    readers,
    async close() {
      for (const reader of readers) await reader.close();
    },
  };
}

/**
 * Opens the most recent complete index that a server maintains, on this machine or in OpenSearch. Throws UNAVAILABLE if
 * there is none.
 */
export async function findIndex(config: Config, backend: Backend) {
  const candidates = await openCandidates(config, backend);
  try {
    const stream = await openStream(backend.database, backend.streams).identify();
    const found = await mostRecent(candidates.readers, stream);
    if (found !== undefined) return { ...found, close: () => candidates.close() };
    const message = `no complete search index in ${candidates.where}; run \`cellport serve\` to build one`;
    throw new CellportError('UNAVAILABLE', message);
  } catch (error) {
    await candidates.close();
    throw error;
  }
}

/** Searches that index. Throws UNAVAILABLE if there is none. */
export async function findText(
  config: Config,
  backend: Backend,
  input: TextSearchInput,
  signal: AbortSignal,
): Promise<FoundText> {
  const found = await findIndex(config, backend);
  try {
    requireIndexed(backend.database, input.collections, (scope) => found.sources.has(scope));
    return await oneQuery(config.limits, backend.database, signal, async (map) => {
      const read = (part: TextSearchInput) => searchText(map, found.reader, part, signal);
      const forget = () => map.loaders.forget();
      const { edges, pageInfo, count } = await readOn(input, read, () => false, forget);
      const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      return { edges, next, total: await count(), asOf: found.asOf };
    });
  } finally {
    await found.close();
  }
}

async function mostRecent(readers: readonly SearchReader[], stream: string) {
  let best: { readonly reader: SearchReader; readonly asOf: number; readonly sources: ReadonlySet<string> } | undefined;
  for (const reader of readers) {
    const checkpoint = await reader.checkpoint();
    if (checkpoint === undefined) continue;
    const { complete, asOf, stream: followed } = readCheckpoint(checkpoint);
    // A table of the same name in another database may have left its index here.
    if (complete && followed === stream && asOf >= (best?.asOf ?? 0)) {
      best = { reader, asOf, sources: sourcesIn(checkpoint) };
    }
  }
  return best;
}
