import { CellportError } from '../../errors.js';
import { proposeGeoLibrary } from '../../sources/propose/geo-library.js';
import { likePositions } from '../../sources/propose/position.js';
import { NO_KIND, propose } from '../../sources/propose/propose.js';
import { describeSource, sampleItems, streamFault } from '../../store/source/describe-source.js';
import { grouped, printable } from '../progress.js';
import type { CommandSession } from '../session.js';

const SAMPLE = 500;

/** Proposes a mapping for a kind of items, in JSON, and prints on standard error how it came about. */
export async function proposeMapping(
  { database, call }: CommandSession,
  { table: name, kind, preset }: { readonly table: string; readonly kind?: string; readonly preset?: 'dynamodb-geo' },
): Promise<string> {
  const table = await describeSource(database, name);
  const items = await sampleItems(call, name, SAMPLE);
  const say = (line: string) => console.error(printable(line));
  if (items.length === 0) throw new CellportError('NOT_FOUND', `table ${name} has no items to look at`);
  const proposals = preset === undefined ? propose(table, items) : [proposeGeoLibrary(table, items)];
  const [first] = proposals;
  if (first === undefined) {
    const like = likePositions(items).slice(0, 5).join(', ');
    const why = like === '' ? 'no attribute is named like one' : `these are named like one, but not read: ${like}`;
    const message = `none of the ${grouped(items.length)} items looked at in table ${name} has a position that is recognized; ${why}. Write a mapping by hand: see docs/sources.md`;
    throw new CellportError('NOT_FOUND', message, { table: name });
  }
  const labelOf = (each: string) => each || NO_KIND;
  say(`${grouped(items.length)} items looked at in table ${name}; kinds with a position:`);
  for (const each of proposals) {
    say(`  ${labelOf(each.kind)}: ${grouped(each.items)} items, ${grouped(each.markers)} markers`);
  }
  const chosen = kind === undefined ? first : proposals.find((each) => labelOf(each.kind) === kind);
  if (chosen === undefined) {
    const known = proposals.map((each) => labelOf(each.kind)).join(', ');
    throw new CellportError('BAD_USER_INPUT', `--kind must be one of ${known}; got ${JSON.stringify(kind)}`);
  }
  for (const note of chosen.notes) say(`note: ${note}`);
  const fault = streamFault(table);
  if (fault !== undefined) say(`note: ${fault}`);
  return JSON.stringify(chosen.mapping, null, 2);
}
