import { type Collection, otherLayout } from '../model/collection.js';
import { getCollections } from '../store/collection/collections.js';
import { endPhase, repartitionJob } from '../store/collection/layout-change.js';
import { LayoutChanged, whileLayoutStays } from '../store/collection/watch-collection.js';
import type { Sighting } from '../store/lease.js';
import { newCall } from '../store/request/meter.js';
import { notFound } from '../errors.js';
import { type OwnJob, doJob } from './job.js';
import type { Phase, RepartitionOptions, RepartitionProgress } from './layout-phase.js';
import { walkOnce } from './walk-markers.js';

async function settle(
  { options, change: { phase }, call }: Phase,
  waitsFor: NonNullable<RepartitionProgress['waitsFor']>,
): Promise<void> {
  options.onProgress({ phase, markers: 0, changed: 0, part: undefined, waitsFor });
  await options.settle(call.signal);
  call.signal.throwIfAborted();
}

/** Does everything of a phase. */
async function runPhase(now: Phase): Promise<void> {
  const { collection, change, job } = now;
  if (job.done(change.step) === 0) {
    await settle(now, 'PROCESSES');
    job.reach(1, change.step);
  }
  if (change.phase === 'SWITCH') return;
  const layout = change.phase === 'FILL' ? collection : (otherLayout(collection) ?? collection);
  // Again, for markers that a process wrote which had stopped for longer than the wait.
  while ((await walkOnce(now, layout)) > 0 && change.phase === 'DRAIN') job.reach(1, change.step);
  // The index follows the table.
  if (change.phase === 'FILL') await settle(now, 'INDEX');
}

/** Does all phases of a change in progress; returns the collection as it is then. */
async function repartitionAs(options: RepartitionOptions, key: string, job: OwnJob): Promise<void> {
  const { database } = options.worker;
  const call = newCall(job.signal);
  for (;;) {
    const [collection] = await getCollections(database, [key], call, { consistent: true });
    if (!collection) throw notFound('collection', key);
    const change = collection.layoutChange;
    if (change === undefined) return;
    try {
      await whileLayoutStays(database, collection, call, async ({ signal = job.signal, ...rest }) => {
        await runPhase({ options, collection, change, job, call: { ...rest, signal } });
      });
      await endPhase(database, collection, call);
    } catch (error) {
      // Undone meanwhile, for example.
      if (!(error instanceof LayoutChanged)) throw error;
    }
  }
}

/**
 * Completes the change of a collection's layout in progress (see `beginLayoutChange`) while the collection is read and
 * written; returns false if another process is doing so. Resumes where an earlier run stopped.
 *
 * At every moment, the index that any reader may use is complete, because each phase waits until every process knows
 * it. FILL: writers enter markers into both indexes; then every marker of the index in use is entered into the other
 * one. SWITCH: readers use that one. DRAIN: writers leave the former index, then every marker does. So it is with map
 * properties: markers have the former and the new ones while readers may rely on either.
 */
export function repartition(
  options: RepartitionOptions,
  collection: Collection,
  seen: Sighting,
  signal: AbortSignal,
): Promise<boolean> {
  const { worker } = options;
  const key = repartitionJob(worker.database, collection);
  return doJob(worker, key, seen, (job) => repartitionAs(options, collection.key, job), signal);
}
