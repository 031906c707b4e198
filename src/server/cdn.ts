import { systemClock, type Clock } from '../clock.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import { EVERYTHING, tagsAbove } from '../map/tiles/blocks.js';
import { requirePackages } from '../optional-package.js';
import { restartOnFailure } from '../retry.js';
import { changeOf } from '../stream/change.js';
import { inBackground, type Background } from './background.js';
import type { Cdn } from './cloudfront.js';
import type { LiveFeed } from './live.js';

const EVERY_MS = 1_000;
/** After so long, every server answers with what a record of the stream has changed, if that was applied. */
const SHOWN_AFTER_MS = 2_500;
/** Each tag is charged for. */
const MOST_TAGS = 50;
const RETRIES = { firstMs: 1_000, longestMs: 30_000 };

/** Tags of what has changed, by scope. */
type Tags = ReadonlyMap<string, ReadonlySet<string>>;

/** The tags to purge: of a collection with many, that of all of it. */
function fewOf(tags: Tags): string[] {
  if (tags.has(EVERYTHING) || tags.size > MOST_TAGS) return [EVERYTHING];
  return [...tags].flatMap(([scope, all]) => (all.size > MOST_TAGS ? [scope] : [...all]));
}

/**
 * Purges from a CDN what the records that the owner of a stream reads have changed, all together and once a second at most.
 * `completeAt` tells up to when, by the clock, everything in the stream has been applied.
 */
export function openPurging(
  cdn: Cdn,
  keys: Keyspace,
  completeAt: () => number,
  log: Log,
  clock: Clock = systemClock,
): LiveFeed & Background {
  requirePackages('CELLPORT_CDN', ['@aws-sdk/client-cloudfront']);
  let noted = new Map<string, Set<string>>();
  let waiting: { readonly tags: Tags; readonly at: number } | undefined;

  function note(scope: string, tags: readonly string[]): void {
    const all = noted.get(scope) ?? new Set();
    if (all.size <= MOST_TAGS) for (const tag of tags) all.add(tag);
    noted.set(scope, all);
  }
  const noteEverything = () => note(EVERYTHING, []);

  async function work(signal: AbortSignal, progressed: () => void): Promise<void> {
    const { purger } = await import('./cloudfront.js');
    const cloudFront = purger(cdn);
    try {
      while (!signal.aborted) {
        await clock.sleep(EVERY_MS, signal);
        if (waiting === undefined && noted.size > 0) {
          waiting = { tags: noted, at: clock.now() };
          noted = new Map();
        }
        if (waiting === undefined || Math.min(clock.now() - SHOWN_AFTER_MS, completeAt()) < waiting.at) continue;
        const tags = fewOf(waiting.tags);
        await cloudFront.purge(tags, signal);
        log.debug({ tags }, 'Purged what has changed from the CDN');
        waiting = undefined;
        progressed();
      }
    } finally {
      cloudFront.close();
    }
  }
  const onFailure = (err: unknown) =>
    log.error({ err, distribution: cdn.distribution }, 'Cannot purge the CDN; retrying');
  const running = inBackground((signal) =>
    restartOnFailure((progressed) => work(signal, progressed), { ...RETRIES, clock, signal, onFailure }),
  );
  return {
    onRecord(record) {
      const { scope, before, after } = changeOf(keys, record) ?? {};
      for (const each of [before, after]) if (scope !== undefined && each) note(scope, tagsAbove(scope, each.cell));
    },
    onLoss: noteEverything,
    // The former owner may not have purged everything.
    onOwnership: (owner) => owner && noteEverything(),
    stop: () => running.stop(),
  };
}
