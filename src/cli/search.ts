import { Command, InvalidArgumentError, Option } from 'commander';

import { EXIT_CODES, anyNumber, boundsOption, wholeNumber } from './options.js';
import type { SearchOptions } from './search/print.js';
import { withDatabase } from './session.js';

function parseNear(text: string): readonly [number, number] {
  const [lng, lat, ...more] = text.split(',').map(anyNumber);
  if (lng === undefined || lat === undefined || more.length > 0) {
    throw new InvalidArgumentError('Expected two numbers: lng,lat.');
  }
  return [lng, lat];
}

export function searchCommand(): Command {
  return new Command('search')
    .description('Find markers, zones and collections by text, in the search index of a server on this machine')
    .argument('[text...]', 'words; the last one may be incomplete; none with --bounds finds everything inside')
    .addOption(
      new Option('-c, --collection <key>', 'only in this collection; may be repeated').argParser(
        (key, before: readonly string[] | undefined) => [...(before ?? []), key],
      ),
    )
    .addOption(boundsOption('only in this bounding box, in degrees'))
    .addOption(new Option('--near <lng,lat>', 'the nearest first, in degrees').argParser(parseNear))
    .addOption(new Option('-n, --first <n>', 'results of a page').argParser(wholeNumber(1, 1_000)).default(20))
    .option('--after <cursor>', 'the page after this cursor, which the page before names')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Results are read from the database; the index only finds them. \`cellport serve\` builds it and keeps it up to date.
See docs/search.md.
${EXIT_CODES}`,
    )
    .action(async (words: readonly string[], options: SearchOptions) => {
      const { printFound } = await import('./search/print.js');
      await withDatabase((session) => printFound(session, words.join(' '), options));
    });
}
