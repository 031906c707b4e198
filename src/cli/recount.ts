import { Command } from 'commander';

import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import { duration, grouped } from './progress.js';
import { resumed, withDatabase, type CommandSession } from './session.js';

async function recount(session: CommandSession, check: boolean): Promise<void> {
  const { database, log, signal } = session;
  const { recountDerived } = await import('../server/consumer.js');
  const { checkTables } = await import('../store/table/tables.js');
  await checkTables(database);
  const began = systemClock.now();
  const counted = await resumed(signal, () => recountDerived(session, log, check, signal));
  const { markers, blocks, drifted, pages, differing, days, wrongDays, undecided } = counted;
  const took = duration(systemClock.now() - began);
  const blocksWrong = `${grouped(drifted.length)} of ${grouped(blocks)} blocks`;
  const pagesWrong = `${grouped(differing.length)} of ${grouped(pages)} pages`;
  const daysWrong = `${grouped(wrongDays.length)} of ${grouped(days)} days of readings`;
  if (check && drifted.length + differing.length + wrongDays.length > 0) {
    throw new CellportError(
      'CONFLICT',
      `${blocksWrong}, ${pagesWrong} and ${daysWrong} do not match the ${grouped(markers)} markers; ` +
        'run `cellport recount` to repair them',
    );
  }
  const result = check
    ? `${blocksWrong}, ${pagesWrong} and ${daysWrong} differ${undecided > 0 ? `; ${grouped(undecided)} changed too often to be compared` : ''}`
    : `${blocksWrong} repaired, ${grouped(pages)} pages built${days > 0 ? `, ${grouped(days)} days of readings to be summarized again` : ''}`;
  console.log(`${grouped(markers)} markers counted in ${took}: ${result}`);
}

export function recountCommand(): Command {
  return new Command('recount')
    .description(
      'Recount all markers, repair cells and rebuild pages, e.g. after a gap in the stream. For a collection that follows a table, use `cellport source verify`',
    )
    .option('--check', 'change nothing, and leave the consumer alone; fail if a cell or page is wrong')
    .action(({ check = false }: { check?: boolean }) => withDatabase((session) => recount(session, check)));
}
