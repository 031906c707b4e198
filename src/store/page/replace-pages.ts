import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Call, Database } from '../database.js';
import { REFUSALS, replaceStatement } from '../request/conditional-write.js';
import { chunks, mapConcurrently } from '../request/pacing.js';
import { send } from '../request/send.js';
import { transactOnce, type Write } from '../request/transact.js';
import type { NewPage, PageReplacement } from './pages.js';

const attributesOf = ({ end, markers, data }: NewPage, { round, lost }: PageReplacement) => ({
  b: round,
  ...(end === undefined ? {} : { e: end }),
  ...(lost === undefined ? {} : { l: lost }),
  n: markers,
  d: data,
});

/**
 * The first load splits thousands of pages, and DynamoDB Local answers nothing else while it executes many
 * transactions.
 */
const SPLITS_AT_A_TIME = 4;

/** DynamoDB did not write a page, for another reason than that it had changed. */
export class PageRejected extends Error {
  override readonly name = 'PageRejected';
  readonly code: string;

  constructor(code: string) {
    super(`a page was not written: ${code}`);
    this.code = code;
  }
}

/** The items of a transaction that replaces a page. */
function transactItems({ keys, tables }: Database, generation: string, replacement: PageReplacement): Write[] {
  const { scope, seen } = replacement;
  return replacement.pages.map((page, index) => {
    const Item = { ...keys.page(scope, generation, page.begin), ...attributesOf(page, replacement) };
    const isNew = index > 0 || seen === undefined;
    const condition = isNew
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : { ConditionExpression: 'b = :seen', ExpressionAttributeValues: { ':seen': seen } };
    return { Put: { TableName: tables.derived, Item, ...condition } };
  });
}

/** Replaces pages that remain one page each, with statements: a tenth of the time of as many requests. */
async function replaceEach(
  call: Call,
  generation: string,
  replacements: readonly PageReplacement[],
): Promise<boolean[]> {
  const { keys, tables } = call.db;
  const Statements = replacements.flatMap((replacement) =>
    replacement.pages.map((page) =>
      replaceStatement(
        tables.derived,
        keys.page(replacement.scope, generation, page.begin),
        attributesOf(page, replacement),
        replacement.seen,
      ),
    ),
  );
  const { Responses = [] } = await send(call, 'batchExecute', { Statements });
  return replacements.map((_, index) => {
    const answer = Responses[index];
    const code = answer?.Error?.Code;
    if (answer === undefined || (code !== undefined && !REFUSALS.has(code)))
      throw new PageRejected(code ?? 'no response');
    return code === undefined;
  });
}

/**
 * Replaces pages, each only if it has not changed since it was read; returns for each, in order, whether it was
 * replaced. Throws if that is not known for all of them; some may have been replaced then. A split is one transaction:
 * if only part of it were written, a process that stopped then and the one that continues its work could cut the page
 * in different ways.
 */
export async function replacePages(
  call: Call,
  generation: string,
  replacements: readonly PageReplacement[],
): Promise<boolean[]> {
  const itemsOf = (replacement: PageReplacement) => transactItems(call.db, generation, replacement);
  if (call.db.waitsForDisk) {
    const all = replacements.flatMap(itemsOf);
    if (all.length <= REQUEST_LIMITS.transactWrite && (await transactOnce(call, all)))
      return replacements.map(() => true);
  }
  const done = new Map<PageReplacement, boolean>();
  const single = replacements.filter(({ pages }) => pages.length === 1);
  const splits = replacements.filter(({ pages }) => pages.length !== 1);
  await Promise.all([
    ...chunks(single, REQUEST_LIMITS.batchExecute).map(async (batch) => {
      const outcomes = await replaceEach(call, generation, batch);
      batch.forEach((replacement, index) => done.set(replacement, outcomes[index] === true));
    }),
    mapConcurrently(splits, call.db.waitsForDisk ? 1 : SPLITS_AT_A_TIME, async (replacement) => {
      done.set(replacement, await transactOnce(call, itemsOf(replacement)));
    }),
  ]);
  return replacements.map((replacement) => done.get(replacement) === true);
}
