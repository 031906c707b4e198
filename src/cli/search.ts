import { Command, InvalidArgumentError, Option } from 'commander';

import type { SearchOptions } from './search/print.js';
import { anyNumber, boundsOption, wholeNumber, withDatabase } from './session.js';

function parseNear(text: string): readonly [number, number] {
  const [lng, lat, ...more] = text.split(',').map(anyNumber);
  if (lng === undefined || lat === undefined || more.length > 0) {
    throw new InvalidArgumentError('Expected two numbers: lng,lat.');
  }
  return [lng, lat];
}

export function searchCommand(): Command {
  return new Command('search')
    .description('Find markers, zones and collections by text, in the search index')
    .argument(
      '[text...]',
      'words to search for; the last may be incomplete; without words, --bounds finds everything inside',
    )
    .addOption(
      new Option('-c, --collection <key>', 'search only this collection; may be repeated').argParser(
        (key, before: readonly string[] | undefined) => [...(before ?? []), key],
      ),
    )
    .addOption(boundsOption('search only this bounding box, in degrees'))
    .addOption(new Option('--near <lng,lat>', 'order by distance from this position, in degrees').argParser(parseNear))
    .addOption(new Option('-n, --first <n>', 'results per page').argParser(wholeNumber(1, 1_000)).default(20))
    .option('--after <cursor>', 'continue after this cursor, which the previous page printed')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Uses the index in OpenSearch if CELLPORT_OPENSEARCH_URL is set, otherwise the index of a server on this machine.
\`cellport serve\` builds the index and keeps it up to date. See docs/search.md.`,
    )
    .action(async (words: readonly string[], options: SearchOptions, command: Command) => {
      if (words.length === 0 && options.bounds === undefined)
        command.error('error: pass words to search for, or --bounds');
      const { printFound } = await import('./search/print.js');
      await withDatabase((session) => printFound(session, words.join(' '), options));
    });
}
