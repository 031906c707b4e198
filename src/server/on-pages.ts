import { CellportError } from '../errors.js';
import { silentLog } from '../log.js';
import type { Collection } from '../model/collection.js';
import { hasSource } from '../store/source/source-mapping.js';
import { changeOf } from '../stream/change.js';
import { reportOf } from '../stream/consume/consumer.js';
import { consumerParts } from '../stream/consume/derived-ports.js';
import { readBeyond, type FollowerOptions } from '../stream/consume/follower.js';
import type { StreamBackend } from './backend.js';
import { inStreamBy } from './consumer.js';
import { sourceParts } from './sources/fill.js';

const POLL_MS = 50;
const MOST_RECENT = 1_000_000;

/**
 * The pages of a collection without a geo index, with the keys of markers that have changes which these may lack, of all
 * that were written before the call; `missing` is why other changes may be missing. Only reads. Throws UNAVAILABLE if
 * they are too far behind.
 */
export async function findOnPages(backend: StreamBackend, collection: Collection, signal: AbortSignal) {
  const { database } = backend;
  const parts = hasSource(collection) ? sourceParts(backend, collection, silentLog) : consumerParts(backend, silentLog);
  const scope = database.keys.scope(collection);
  const until = inStreamBy(database);
  const recent = new Set<string>();
  const onRecord: FollowerOptions['onRecord'] = (record) => {
    const change = changeOf(database.keys, record);
    if (change?.scope === scope && change.key !== undefined) recent.add(change.key);
    for (const { key } of record.contentions ?? []) recent.add(key);
    if (recent.size <= MOST_RECENT) return;
    const behind = `the pages of collection ${collection.key} lack more than ${MOST_RECENT} changes`;
    throw new CellportError('UNAVAILABLE', `${behind}; wait for the stream's consumer`);
  };
  const generation = async () => {
    const { pages, formerPages } = reportOf(await parts.state.load());
    return (pages ?? formerPages)?.generation;
  };
  const state = await parts.state.load();
  const { gap = null, pages = null } = state ?? {};
  if (state && pages && !gap) await readBeyond({ ...parts, pollMs: POLL_MS, onRecord }, state, until, signal);
  return { pages: { generation, recent }, missing: gap ? `${gap.reason}, since ${gap.since}` : undefined };
}
