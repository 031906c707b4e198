import { Command, Option } from 'commander';

import { FILE_FORMATS } from '../ingest/read/file-format.js';
import { parsePrice, type AdviseOptions } from './advise/options.js';
import { numberFrom, wholeNumber } from './session.js';

const HELP = `
Without a file or a collection, the command assumes that markers are distributed like the cities of the world. It derives
figures that you do not pass: storage from the markers, read units from the map views, write units from the markers that
change. It writes nothing except the report. See docs/performance.md.`;

const FIGURES = ['items', 'rcu', 'wcu', 'gb', 'viewsADay', 'writes'] as const;

async function run(file: string | undefined, options: AdviseOptions, command: Command): Promise<void> {
  if (file !== undefined && options.collection !== undefined)
    command.error('error: advise takes either a file or --collection');
  if (file === undefined && options.collection === undefined && FIGURES.every((name) => options[name] === undefined))
    command.error(
      'error: advise needs a file, --collection, or at least one of --items, --rcu, --wcu, --gb, --views-a-day, --writes',
    );
  await (await import('./advise/run.js')).advise(file, options);
}

export function adviseCommand(): Command {
  const amount = (flags: string, description: string, least = 0, most = 1e12) =>
    new Option(flags, description).argParser(numberFrom(least, most));
  return new Command('advise')
    .description('Recommend prefixLength, writeShards and key style, and estimate partitions, reads and cost')
    .argument('[file]', 'markers in GeoJSON, NDJSON or CSV, as for import')
    .option('-c, --collection <key>', 'advise on an existing collection instead, from its cells and a sample')
    .addOption(new Option('--format <format>', 'format of the file, regardless of its extension').choices(FILE_FORMATS))
    .option('--key-column <name>', 'column or property that holds the key')
    .option('--lat-column <name>', 'column that holds the latitude')
    .option('--lng-column <name>', 'column that holds the longitude')
    .addOption(
      new Option(
        '--items <n>',
        'number of markers to plan for, distributed like those in the file or collection',
      ).argParser(numberFrom(1, 100_000_000_000)),
    )
    .addOption(new Option('--item-bytes <n>', 'size of a marker in bytes').argParser(wholeNumber(1, 409_600)))
    .addOption(amount('--rcu <n>', 'peak read units per second'))
    .addOption(amount('--wcu <n>', 'peak write units per second'))
    .addOption(amount('--gb <n>', 'stored GB'))
    .addOption(amount('--views-a-day <n>', 'map views per day'))
    .addOption(amount('--writes <n>', 'peak number of markers created or moved per second'))
    .addOption(amount('--peak <factor>', 'ratio of the daily peak to the mean', 1, 1000).default(3))
    .addOption(
      new Option(
        '--price <name=usd>',
        'a price; may be repeated: onDemandRead, onDemandWrite (per million), provisionedRead, provisionedWrite (per hour), storage (per GB)',
      ).argParser(parsePrice),
    )
    .option('--json', 'print JSON')
    .option('--html <file>', 'also write a report with a map and curves')
    .addHelpText('after', HELP)
    .action(run);
}
