import { sourceConsumer, sourceStatus } from '../../server/sources/report.js';
import { getBlocks } from '../../store/cell/blocks.js';
import { readDeadLetters } from '../../store/cell/dead-letters.js';
import { everyCollection } from '../../store/collection/collections.js';
import { MOST_LISTED } from '../../store/source/rejected-items.js';
import { hasSource, type SourceCollection } from '../../store/source/source-mapping.js';
import { findSource } from '../find-collection.js';
import { duration, grouped, printable } from '../progress.js';
import type { CommandSession } from '../session.js';

const MOST_SHOWN = 100;

/** What is known of a source, without reading its table. */
async function statusOf({ database, call }: CommandSession, collection: SourceCollection) {
  const scope = database.keys.scope(collection);
  const { asOf, ...status } = await sourceStatus(call, scope);
  const [total] = await getBlocks(call, scope, [''], { consistent: true });
  const { letters } = await readDeadLetters(call, sourceConsumer(scope), { first: MOST_LISTED });
  const reasons = new Map<string, number>();
  for (const { reason } of letters) {
    const [kind = ''] = reason.split(':', 1);
    reasons.set(kind, (reasons.get(kind) ?? 0) + 1);
  }
  return {
    collection: collection.key,
    table: collection.source.table,
    everyMs: collection.source.everyMs ?? null,
    markers: [...(total?.children.values() ?? [])].reduce((sum, { count }) => sum + count, 0),
    asOf: asOf === null ? null : new Date(asOf).toISOString(),
    ...status,
    reasons: Array.from(reasons, ([reason, count]) => ({ reason, count })),
    examples: letters.slice(0, MOST_SHOWN).map(({ item, reason }) => ({ item, reason })),
  };
}

/** Prints the status of a source, or of all, each with the first items that match but are no markers. */
export async function printSources(session: CommandSession, key: string | undefined, json: boolean): Promise<void> {
  const { call } = session;
  const found: SourceCollection[] = key === undefined ? [] : [await findSource(call, key)];
  if (key === undefined) {
    for await (const some of everyCollection(call, 'in use')) found.push(...some.filter(hasSource));
  }
  const all: Awaited<ReturnType<typeof statusOf>>[] = [];
  for (const collection of found) all.push(await statusOf(session, collection));
  if (json) return console.log(JSON.stringify(all, null, 2));
  if (all.length === 0) console.log('no collection follows a table: see `cellport source create`');
  for (const { collection, table, everyMs, state, reason, markers, rejected, behindMs, reasons, examples } of all) {
    const every = everyMs === null ? '' : `, read every ${duration(everyMs)}`;
    const behind = behindMs === null ? 'nothing to show yet' : `complete up to ${duration(behindMs)} ago`;
    console.log(
      `${collection} (table ${table}${every}): ${state}, ${grouped(markers)} markers, ${grouped(rejected)} rejected, ${behind}`,
    );
    if (reason !== null) console.log(printable(`  ${reason}`));
    const counted = reasons.map((each) => `${grouped(each.count)} × ${each.reason}`).join(', ');
    if (counted !== '')
      console.log(`  ${rejected > MOST_LISTED ? `of ${grouped(MOST_LISTED)} that are listed, ` : ''}${counted}`);
    for (const example of examples) console.log(printable(`  rejected ${example.item}: ${example.reason}`));
    if (rejected > examples.length && examples.length > 0)
      console.log(`  and ${grouped(rejected - examples.length)} more`);
  }
}
