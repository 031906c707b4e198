import { Command } from 'commander';

import { CellportError, badInput } from '../errors.js';
import { EXIT_CODES } from './options.js';
import { duration, grouped } from './progress.js';
import { type Session, withDatabase } from './session.js';

interface ReindexOptions {
  readonly check?: boolean;
  readonly deadLetters?: boolean;
  readonly acceptCount?: boolean;
}

async function run(session: Session, options: ReindexOptions): Promise<void> {
  const { config, log, signal } = session;
  const { openSearchUrl: url } = config;
  if (url === undefined) {
    throw badInput('CELLPORT_OPENSEARCH_URL', '', 'the URL of OpenSearch; an index in a file is built by its server');
  }
  const { reindex } = await import('../server/reindex.js');
  const { checkIndex, replayRefusals } = await import('../server/index-check.js');
  const command = { url, config, backend: session, log, signal };
  if (options.deadLetters === true) {
    const { tried, left } = await replayRefusals(command);
    for (const { key, reason } of left) console.error(`${key.pk}#${key.sk}: ${reason}`);
    const result = `${grouped(tried - left.length)} of ${grouped(tried)} dead letters indexed`;
    if (left.length > 0) throw new CellportError('CONFLICT', result);
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
  const began = performance.now();
  let shown = began;
  const { documents, before } = await reindex(command, {
    acceptCount: options.acceptCount === true,
    onRead(items) {
      if (performance.now() - shown < 2_000) return;
      shown = performance.now();
      console.error(`${grouped(items)} items read`);
    },
  });
  const took = duration(performance.now() - began);
  console.log(`${grouped(documents)} documents indexed in ${took}, ${grouped(before)} before`);
}

export function reindexCommand(): Command {
  return new Command('reindex')
    .description('Build the search index in OpenSearch anew while servers go on, then use it')
    .option('--check', 'only compare the index with the table; fail if they differ')
    .option('--dead-letters', 'only try again what OpenSearch did not take')
    .option('--accept-count', 'use the new index even if it has not as many documents as the one before')
    .addHelpText('after', `\nSee docs/search.md.\n${EXIT_CODES}`)
    .action((options: ReindexOptions) => withDatabase((session) => run(session, options)));
}
