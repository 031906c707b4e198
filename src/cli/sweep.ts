import { Command, Option } from 'commander';

import { systemClock } from '../clock.js';
import { badInput, CellportError } from '../errors.js';
import { duration, grouped } from './progress.js';
import { resumed, wholeNumber, withDatabase, type CommandSession } from './session.js';

interface SweepOptions {
  readonly olderThan: number;
  readonly yes?: true;
}

async function sweep({ database, signal, call }: CommandSession, { olderThan, yes }: SweepOptions): Promise<void> {
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
  const sweepOnce = (isTrial: boolean) => resumed(signal, () => sweepObjects(call, objects, before, isTrial));
  const found = await sweepOnce(true);
  // The objects may be those of a table of the same name in another region or account, or of one that was restored.
  if (2 * found.orphans > found.objects && yes !== true) {
    const share = `${grouped(found.orphans)} of ${grouped(found.objects)} objects`;
    const of = `no zone of table ${database.tables.entities} refers to ${share} in ${objects.place}`;
    throw new CellportError('BAD_USER_INPUT', `${of}, more than half: pass --yes to delete them; nothing was changed`);
  }
  const { objects: checked, orphans } = await sweepOnce(false);
  const took = duration(systemClock.now() - began);
  console.log(`${grouped(checked)} objects checked in ${objects.place}, ${grouped(orphans)} removed, in ${took}`);
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
    .option('--yes', 'delete even more than half of the objects')
    .action((options: SweepOptions) => withDatabase((session) => sweep(session, options)));
}
