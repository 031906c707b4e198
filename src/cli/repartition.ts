import { Command, Option } from 'commander';

import { systemClock } from '../clock.js';
import type { RepartitionProgress } from '../jobs/layout-phase.js';
import type { Collection } from '../model/collection.js';
import { changing } from './changing.js';
import { duration, progressBar, type ProgressBar } from './progress.js';
import {
  mapPropertyOption,
  prefixLengthOption,
  resumed,
  wholeNumber,
  writeShardsOption,
  type CommandSession,
} from './session.js';

interface RepartitionOptions {
  readonly prefixLength?: number;
  readonly shards?: number;
  readonly mapProperty?: readonly string[];
  readonly undo?: boolean;
  readonly maxWcu: number;
}

const PHASES = { FILL: 'adding the new layout', SWITCH: 'switching readers', DRAIN: 'removing the old one' } as const;

/** A bar for each phase that is not a wait, which is only named, with the time that it takes. */
function phaseBars(waitMs: number) {
  const waits = {
    PROCESSES: `waiting ${duration(waitMs)}, until every server and import knows of it`,
    INDEX: `waiting ${duration(waitMs)}, until the index shows all of it`,
  };
  let bar: ProgressBar | undefined;
  let shown = '';
  const end = () => {
    bar?.end();
    bar = undefined;
  };
  const onProgress = ({ phase, markers, part, waitsFor }: RepartitionProgress) => {
    const label = waitsFor === undefined ? PHASES[phase] : `${PHASES[phase]}: ${waits[waitsFor]}`;
    if (label !== shown) {
      end();
      if (part === undefined) console.error(label);
      else bar = progressBar(label);
    }
    shown = label;
    if (part !== undefined) bar?.update({ rows: markers, resumed: 0, part });
  };
  return { onProgress, end };
}

/** Number of markers that are asked for their properties. */
const ASKED = 500;

/** Asks whether properties that no marker of a collection has are meant. */
async function askIfUnknown(session: CommandSession, collection: Collection, names: readonly string[] = []) {
  const { signal, call } = session;
  const { readMarkers } = await import('../ingest/export/read-markers.js');
  const { findOccupied } = await import('../server/consumer.js');
  const { askAboutNames } = await import('./ask.js');
  const unknown = new Set(names);
  let asked = 0;
  if (names.length > 0) {
    const prefixes = await findOccupied(session, collection, signal);
    for await (const markers of readMarkers({ collection, call, prefixes })) {
      for (const { properties } of markers) for (const name of Object.keys(properties)) unknown.delete(name);
      asked += markers.length;
      if (unknown.size === 0 || asked >= ASKED) break;
    }
  }
  await askAboutNames(unknown, asked, signal);
}

/** Begins, resumes or undoes a change as requested; returns the collection with the change to be completed. */
async function prepare(session: CommandSession, key: string, options: RepartitionOptions): Promise<Collection> {
  const { beginLayoutChange, undoLayoutChange } = await import('../store/collection/layout-change.js');
  const { findCollection } = await import('./find-collection.js');
  const { prefixLength, shards: writeShards, mapProperty: mapProperties, undo = false } = options;
  const wanted = { prefixLength, writeShards, mapProperties };
  const { call } = session;
  const found = await findCollection(call, key);
  if (undo) return undoLayoutChange(call, key);
  await askIfUnknown(session, found, mapProperties);
  const isResumed = found.layoutChange !== undefined && Object.values(wanted).every((each) => each === undefined);
  return isResumed ? found : beginLayoutChange(call, key, wanted);
}

async function run(session: CommandSession, key: string, options: RepartitionOptions): Promise<void> {
  const { config, database, signal, call } = session;
  const { completeRepartition, settleMs } = await import('../server/jobs.js');
  const { nameOfLayout } = await import('../store/collection/layout-change.js');
  const { checkTables } = await import('../store/table/tables.js');
  const { findCollection } = await import('./find-collection.js');
  await checkTables(database);
  const began = systemClock.now();
  const collection = await prepare(session, key, options);
  const { deadlineMs } = config.limits;
  const { onProgress, end } = phaseBars(settleMs(deadlineMs));
  try {
    const { maxWcu } = options;
    await resumed(signal, () => completeRepartition(session, collection, { deadlineMs, maxWcu, onProgress }, signal));
  } finally {
    end();
  }
  const now = await findCollection(call, key);
  const took = duration(systemClock.now() - began);
  console.log(`${key} has ${nameOfLayout(now)} now, after ${took}`);
}

export function repartitionCommand(): Command {
  return new Command('repartition')
    .description('Change the prefix length, write shards or map properties of a collection while servers use it')
    .argument('<key>', 'key of the collection')
    .addOption(prefixLengthOption())
    .addOption(writeShardsOption('--shards'))
    .addOption(mapPropertyOption('<names>', 'all properties that maps draw, separated by commas; "" for none'))
    .option('--undo', 'return to the layout before the change that is in progress')
    .addOption(
      new Option('--max-wcu <n>', 'write units to consume per second').argParser(wholeNumber(1, 40_000)).default(500),
    )
    .addHelpText('after', `\nWithout options, resumes an interrupted change. See docs/performance.md.`)
    .action((key: string, options: RepartitionOptions) =>
      changing({ what: 'repartition', collection: key }, (session) => run(session, key, options)),
    );
}
