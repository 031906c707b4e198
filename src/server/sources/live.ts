import { systemClock } from '../../clock.js';
import { completeAfter } from '../../live/history.js';
import type { Database } from '../../store/database.js';
import { isOrderedByRecords, mappingOf, type SourceCollection } from '../../store/source/source-mapping.js';
import type { StreamPort } from '../../stream/ports.js';
import type { Live, LiveFeed, Receiver } from '../live.js';

/** A client that subscribes again soon must not wait until the stream is found again. */
const WANTED_FOR_MS = 60_000;
const CONNECTED_WITHIN_MS = 5_000;
const POLL_MS = 50;

/** The live changes of a source in one process. */
export interface SourceLive {
  readonly feed: LiveFeed;
  /** Since when every change is known, in milliseconds since 1970; undefined if changes do not arrive within 5 s. */
  since(): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * Receives the changes of a source: those of the server that follows it through Redis or, without Redis, those that this
 * process reads while anyone subscribes. Which of several items is the marker, only the server that follows it knows.
 */
export function openSourceLive(
  { clock, keys }: Database,
  { hub, isRelayed, receive }: Live,
  collection: SourceCollection,
  port: StreamPort,
): SourceLive {
  const { source } = collection;
  let isContended = !isRelayed && (mappingOf(source).newest !== undefined || isOrderedByRecords(source));
  let isOwner = false;
  let since: number | undefined;
  let wantedUntil = -Infinity;
  const receiver: Receiver = {
    take: (record) => hub.take(record),
    connected() {
      if (isOwner || !isContended) since ??= completeAfter(clock);
    },
    disconnected(reason) {
      since = undefined;
      hub.missed(collection, reason);
    },
  };
  const readRecords: StreamPort['readRecords'] = async (iterator) => {
    const batch = await port.readRecords(iterator);
    if (isOwner || batch.records.every(({ contentions }) => contentions === undefined)) return batch;
    isContended = true;
    receiver.disconnected('several items may be one marker');
    return batch;
  };
  const isWanted = () => !isContended && (hub.isHeard(collection) || clock.now() < wantedUntil);
  const { feed, follow, close } = receive(keys.scope(collection), { ...port, readRecords }, receiver, isWanted);
  return {
    feed: {
      ...feed,
      onOwnership(owner) {
        isOwner = owner;
        feed.onOwnership(owner);
      },
    },
    async since() {
      const until = clock.now() + CONNECTED_WITHIN_MS;
      wantedUntil = clock.now() + WANTED_FOR_MS;
      for (;;) {
        follow();
        if (since !== undefined || clock.now() >= until || (isContended && !isOwner)) return since;
        await systemClock.sleep(POLL_MS);
      }
    },
    close,
  };
}
