import { Command, Option } from 'commander';

import { systemClock } from '../clock.js';
import { badInput } from '../errors.js';
import { duration, grouped } from './progress.js';
import { resumed, wholeNumber, withDatabase, type CommandSession } from './session.js';

async function sweep({ database, signal, call }: CommandSession, olderThan: number): Promise<void> {
  const { objects } = database.geometry;
  if (objects === undefined)
    throw badInput('CELLPORT_OBJECTS', undefined, 'set, because only an object store can be swept');
  const { checkTables } = await import('../store/table/tables.js');
  const { sweepObjects } = await import('../store/zone/zones.js');
  await checkTables(database);
  const began = systemClock.now();
  // Objects in a folder may have the time of this machine, those in S3 have that of AWS: the earlier one removes nothing new.
  const now = Math.min(database.clock.wall(), systemClock.wall());
  const before = new Date(now - olderThan * 60_000);
  const { objects: checked, removed } = await resumed(signal, () => sweepObjects(call, objects, before));
  const took = duration(systemClock.now() - began);
  console.log(`${grouped(checked)} objects checked in ${objects.place}, ${grouped(removed)} removed, in ${took}`);
}

export function sweepCommand(): Command {
  return new Command('sweep')
    .description('Delete orphaned objects from CELLPORT_OBJECTS: geometry left behind by processes that were killed')
    .addOption(
      new Option(
        '--older-than <minutes>',
        'keep objects that are newer than this, because their zones may not be written yet',
      )
        .argParser(wholeNumber(1, 1_000_000))
        .default(60),
    )
    .action(({ olderThan }: { olderThan: number }) => withDatabase((session) => sweep(session, olderThan)));
}
