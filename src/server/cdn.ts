import { systemClock, type Clock } from '../clock.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import { EVERYTHING, tagsAbove, zonesTag } from '../map/tiles/blocks.js';
import { restartOnFailure } from '../retry.js';
import { anyCollectionFromItem } from '../store/collection/collection-item.js';
import { itemOfImage } from '../store/request/wire.js';
import { changeOf, keyIn, type StreamRecord } from '../stream/change.js';
import type { Cdn } from './cloudfront.js';
import type { LiveFeed } from './live.js';

/** Longer than answers that shared caches may keep are under way, see `SHARED_WITHIN_MS`. */
const EVERY_MS = 1_000;
/** After so long, every server answers with what a record of the stream has changed, if that was applied. */
const SHOWN_AFTER_MS = 2_500;
/** Each tag is charged for. */
const MOST_TAGS = 50;
const RETRIES = { firstMs: 1_000, longestMs: 30_000 };

/** Tags of what has changed in a collection, or everywhere. */
interface Noted {
  readonly tags: Set<string>;
  /** When the first of them was noted. */
  readonly since: number;
}

/** The tags to purge, of those by scope: of a collection with many, that of all of it. */
function fewOf(noted: ReadonlyMap<string, Noted>): string[] {
  if (noted.has(EVERYTHING) || noted.size > MOST_TAGS) return [EVERYTHING];
  return [...noted].flatMap(([scope, { tags }]) => (tags.has(scope) || tags.size > MOST_TAGS ? [scope] : [...tags]));
}

/** The tags of what a record has changed, each with its scope. */
function tagsOf(keys: Keyspace, record: StreamRecord): (readonly [scope: string, tag: string])[] {
  const { scope, before, after } = changeOf(keys, record) ?? {};
  if (scope !== undefined) {
    return [before, after].flatMap((each) => (each ? tagsAbove(scope, each.cell) : [])).map((tag) => [scope, tag]);
  }
  const key = keyIn(record.keys);
  if (key === undefined) return [];
  const zone = keys.parseZone(key) ?? keys.parseZoneCover(key);
  if (zone) return [[zone.scope, zonesTag(zone.scope)]];
  const rules = keys.access('rules');
  if (key.pk === rules.pk && key.sk === rules.sk) return [[EVERYTHING, EVERYTHING]];
  if (keys.parseCollection(key) === undefined) return [];
  // Whatever has changed of it: that is seldom.
  return [record.before, record.after].flatMap((image) => {
    const collection = image && anyCollectionFromItem(keys, itemOfImage(image));
    return collection ? [[keys.scope(collection), keys.scope(collection)] as const] : [];
  });
}

/** Notes what changes, and purges it while it runs. */
export interface Purging extends LiveFeed {
  /** The same for the stream of a source, in the collection with this scope. */
  ofSource(scope: string): LiveFeed;
  /** Notes that anything may have changed in the collection with this scope, or everywhere. */
  noteAll(scope?: string): void;
  /** Purges what is noted, and retries for as long as that fails, until the signal is aborted. What is left is kept. */
  run(signal: AbortSignal): Promise<void>;
  /** Since when something noted is not purged, by the clock; Infinity if all of it is. */
  unpurgedSince(): number;
}

/**
 * Purges from a CDN what the records that the owner of a stream reads have changed, all together and once a second at most.
 * `completeAt` tells up to when, by the clock, every change of the collection with a scope has been applied.
 */
export function openPurging(
  cdn: Cdn,
  keys: Keyspace,
  completeAt: (scope: string) => number,
  log: Log,
  clock: Clock = systemClock,
): Purging {
  const noted = new Map<string, Noted>();
  /** What is purged once changes up to a time are applied, by scope. */
  const waiting = new Map<string, Noted & { readonly at: number }>();

  function note(scope: string, tag: string): void {
    const { tags, since } = noted.get(scope) ?? { tags: new Set(), since: clock.now() };
    if (tags.size <= MOST_TAGS || tag === scope) tags.add(tag);
    noted.set(scope, { tags, since });
  }
  const noteAll = (scope = EVERYTHING) => note(scope, scope);

  function onRecord(record: StreamRecord): void {
    try {
      for (const [scope, tag] of tagsOf(keys, record)) note(scope, tag);
    } catch (err) {
      log.error({ err, keys: record.keys }, 'Cannot tell what a record changes; purging everything from the CDN');
      noteAll();
    }
  }

  async function work(signal: AbortSignal, progressed: () => void): Promise<void> {
    const { purger } = await import('./cloudfront.js');
    const cloudFront = purger(cdn);
    /** What every answer that is begun from now on shows. It is purged at the next look, when those begun before have arrived. */
    let shown: ReadonlySet<Noted> = new Set();
    try {
      while (!signal.aborted) {
        await clock.sleep(EVERY_MS, signal);
        for (const [scope, each] of noted) {
          if (waiting.has(scope)) continue;
          waiting.set(scope, { ...each, at: clock.now() });
          noted.delete(scope);
        }
        const shownTo = clock.now() - SHOWN_AFTER_MS;
        const isShown = ([scope, { at }]: readonly [string, { readonly at: number }]) =>
          Math.min(shownTo, completeAt(scope)) >= at;
        const ready = new Map([...waiting].filter(([, each]) => shown.has(each)));
        shown = new Set([...waiting].filter(isShown).map(([, each]) => each));
        if (ready.size === 0) continue;
        const tags = fewOf(ready);
        await cloudFront.purge(tags, signal);
        log.debug({ tags }, 'Purged what has changed from the CDN');
        for (const scope of ready.keys()) waiting.delete(scope);
        progressed();
      }
    } finally {
      cloudFront.close();
    }
  }
  const onFailure = (err: unknown) =>
    log.error({ err, distribution: cdn.distribution }, 'Cannot purge the CDN; retrying');
  // Whoever owned the stream before may not have purged everything.
  const feedOf = (scope?: string) => ({
    onLoss: () => noteAll(scope),
    onOwnership: (owner: boolean) => owner && noteAll(scope),
  });
  return {
    ...feedOf(),
    onRecord,
    ofSource: (scope) => ({
      ...feedOf(scope),
      // Of several items that may be a marker, any may be the one now.
      onRecord: (record) => (record.contentions ? noteAll(scope) : onRecord(record)),
    }),
    noteAll,
    run: (signal) =>
      restartOnFailure((progressed) => work(signal, progressed), { ...RETRIES, clock, signal, onFailure }),
    unpurgedSince: () => Math.min(Infinity, ...[...noted.values(), ...waiting.values()].map(({ since }) => since)),
  };
}
