import { Command, Option } from 'commander';

import {
  anyNumber,
  boundsOption,
  keyStyle,
  prefixLengthOption,
  styleOption,
  withDatabase,
  writeShardsOption,
} from './session.js';
import type { PlanOptions, PrintedPlan } from './viewport-plan.js';

const degrees = (value: number): string => String(Number(value.toFixed(6)));
const edges = ({ west, south, east, north }: PrintedPlan['bounds']): string =>
  [west, south, east, north].map(degrees).join(',');
const calls = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function sourceOf({ source, requests, readUnits, markers }: PrintedPlan): string {
  if (source === 'PAGES') return `${calls(requests, 'request')} for pages, about ${readUnits} read units`;
  return `${calls(requests, 'Query call')} on index ${markers[0]?.index ?? 'geoA'}, as while pages are not available`;
}

function print(plan: PrintedPlan, json = false): void {
  if (json) return console.log(JSON.stringify(plan, null, 2));
  const { bounds, zoom, precision, cells, markers, more } = plan;
  console.log(`bounds ${edges(bounds)}, zoom ${zoom}: cells of ${precision} characters`);
  if (cells === null) console.log('\ncells: not stored at this length, computed from the markers');
  else {
    console.log(`\ncells: ${calls(cells.length, 'Query call')} on the derived table`);
    for (const { pk, from, to } of cells) console.log(`  ${pk}  ${from} .. ${to}`);
  }
  console.log(`\nmarkers: ${sourceOf(plan)}${more ? '; more on the next page' : ''}`);
  for (const { pk, from, to, bounds: covered } of markers)
    console.log(`  ${pk}  ${from} .. ${to}  (${edges(covered)})`);
}

async function printPlan(options: PlanOptions): Promise<void> {
  const { live = false, json } = options;
  const { livePlan, planOf } = await import('./viewport-plan.js');
  if (live) return withDatabase(async (session) => print(await livePlan(session, options), json));
  print(planOf(options, await keyStyle(options)), json);
}

export function planCommand(): Command {
  return new Command('plan')
    .description(
      'Print what a viewport reads: with --live, what a server would read now; otherwise, without a database, what a collection with these settings would read from the index',
    )
    .addOption(boundsOption('bounding box in degrees').makeOptionMandatory())
    .addOption(
      new Option('-z, --zoom <zoom>', 'zoom level as in MapLibre, -2 to 30').argParser(anyNumber).makeOptionMandatory(),
    )
    .option('-c, --collection <key>', 'key of the collection', 'cities')
    .addOption(
      new Option('--live', 'take the collection and its pages from the database').conflicts([
        'prefixLength',
        'writeShards',
        'style',
        'code',
      ]),
    )
    .addOption(prefixLengthOption().default(2))
    .addOption(writeShardsOption().default(1))
    .addOption(styleOption())
    .option('--code <code>', 'two-character code of the collection, for compact keys')
    .option('--json', 'print JSON')
    .action(printPlan);
}
