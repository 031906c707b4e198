import { Command } from 'commander';

import { systemClock } from '../clock.js';
import { badInput, CellportError } from '../errors.js';
import { duration, grouped } from './progress.js';
import { resumed, withDatabase, type CommandSession } from './session.js';

interface ReindexOptions {
  readonly check?: boolean;
  readonly deadLetters?: boolean;
  readonly acceptCount?: boolean;
}

async function run(session: CommandSession, options: ReindexOptions): Promise<void> {
  const { config, log, signal } = session;
  const { openSearchUrl: url } = config;
  if (url === undefined) {
    throw badInput(
      'CELLPORT_OPENSEARCH_URL',
      '',
      'set to the URL of OpenSearch: an embedded index is built by its server',
    );
  }
  const { reindex } = await import('../server/reindex.js');
  const { checkIndex, replayRefusals } = await import('../server/index-check.js');
  const command = { url, backend: session, log, signal };
  if (options.deadLetters === true) {
    const { tried, left } = await replayRefusals(command, (refusals) => {
      for (const { key, reason } of refusals) console.error(`${key.pk}#${key.sk}: ${reason}`);
    });
    const result = `${grouped(tried - left)} of ${grouped(tried)} dead letters indexed`;
    if (left > 0) throw new CellportError('CONFLICT', result);
    console.log(result);
    return;
  }
  if (options.check === true) {
    const { documents, missing, extra } = await checkIndex(command);
    for (const { pk, sk } of [...missing.slice(0, 10), ...extra.slice(0, 10)]) console.error(`${pk}#${sk}`);
    const result = `${grouped(missing.length)} of ${grouped(documents)} documents missing or stale, ${grouped(extra.length)} too many`;
    if (missing.length + extra.length > 0)
      throw new CellportError('CONFLICT', `${result}; run \`cellport reindex\` to repair the index`);
    console.log(result);
    return;
  }
  const began = systemClock.now();
  let shown = began;
  const { documents, before } = await resumed(signal, () =>
    reindex(command, {
      acceptCount: options.acceptCount === true,
      onRead(items) {
        if (systemClock.now() - shown < 2_000) return;
        shown = systemClock.now();
        console.error(`${grouped(items)} items read`);
      },
    }),
  );
  const took = duration(systemClock.now() - began);
  console.log(`${grouped(documents)} documents indexed in ${took}, ${grouped(before)} in the previous index`);
}

export function reindexCommand(): Command {
  return new Command('reindex')
    .description('Rebuild the search index in OpenSearch while servers keep running, then switch to it')
    .option('--check', 'change nothing; fail if the index differs from the table')
    .option('--dead-letters', 'only try again to index dead letters: documents that OpenSearch rejected')
    .option('--accept-count', 'switch even if the new index has a different number of documents')
    .addHelpText('after', `\nSee docs/search.md.`)
    .action((options: ReindexOptions) => withDatabase((session) => run(session, options)));
}
