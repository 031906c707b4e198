import { Command, Option } from 'commander';

import { FILE_FORMATS } from '../ingest/read/file-format.js';
import { type AdviseOptions, parsePrice } from './advise/options.js';
import { EXIT_CODES, numberFrom, wholeNumber } from './options.js';

const HELP = `
Without a file and a collection, the markers are taken to be like the cities of the world, and spread as these are. What is not
given follows from the rest: storage from the markers, read units from the map views, write units from the markers that
change. Nothing is written but the report. See docs/performance.md.
${EXIT_CODES}`;

const FIGURES = ['items', 'rcu', 'wcu', 'gb', 'viewsADay', 'writes'] as const;

async function run(file: string | undefined, options: AdviseOptions, command: Command): Promise<void> {
  if (file !== undefined && options.collection !== undefined)
    command.error('error: advise takes either a file or --collection');
  if (file === undefined && options.collection === undefined && FIGURES.every((name) => options[name] === undefined))
    command.error(
      'error: advise needs a file, --collection, or one of --items, --rcu, --wcu, --gb, --views-a-day, --writes',
    );
  await (await import('./advise/run.js')).advise(file, options);
}

export function adviseCommand(): Command {
  const amount = (flags: string, description: string, least = 0, most = 1e12) =>
    new Option(flags, description).argParser(numberFrom(least, most));
  return new Command('advise')
    .description('Recommend prefixLength, writeShards and key style, with the partitions, reads and cost that follow')
    .argument('[file]', 'markers in GeoJSON, NDJSON or CSV, as for import')
    .option('-c, --collection <key>', 'a collection of the database instead, by its cells and a sample')
    .addOption(new Option('--format <format>', 'format of the file, regardless of its extension').choices(FILE_FORMATS))
    .option('--key-column <name>', 'column or property that holds the key')
    .option('--lat-column <name>', 'column that holds the latitude')
    .option('--lng-column <name>', 'column that holds the longitude')
    .addOption(
      new Option('--items <n>', 'markers to plan for, spread as those that are there').argParser(
        numberFrom(1, 100_000_000_000),
      ),
    )
    .addOption(new Option('--item-bytes <n>', 'bytes of a marker').argParser(wholeNumber(1, 409_600)))
    .addOption(amount('--rcu <n>', 'read units a second at the peak'))
    .addOption(amount('--wcu <n>', 'write units a second at the peak'))
    .addOption(amount('--gb <n>', 'stored GB'))
    .addOption(amount('--views-a-day <n>', 'map views a day'))
    .addOption(amount('--writes <n>', 'markers created or moved a second at the peak'))
    .addOption(amount('--peak <factor>', 'the peak over the mean of a day', 1, 1000).default(3))
    .addOption(
      new Option(
        '--price <name=usd>',
        'a price, repeatable: onDemandRead, onDemandWrite (a million), provisionedRead, provisionedWrite (an hour), storage (a GB)',
      ).argParser(parsePrice),
    )
    .option('--json', 'as JSON')
    .option('--html <file>', 'also write a report with a map and curves')
    .addHelpText('after', HELP)
    .action(run);
}
