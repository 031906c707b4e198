import { Command, Option } from 'commander';

import { EXIT_CODES, anyNumber, boundsOption, prefixLengthOption, styleOption, writeShardsOption } from './options.js';
import { keyStyle } from './session.js';
import type { PlanOptions } from './viewport-plan.js';

const degrees = (value: number): string => String(Number(value.toFixed(6)));
const calls = (ranges: readonly unknown[]): string => `${ranges.length} Query call${ranges.length === 1 ? '' : 's'}`;

interface Rectangle {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}
const edges = ({ west, south, east, north }: Rectangle): string => [west, south, east, north].map(degrees).join(',');

async function printPlan(options: PlanOptions): Promise<void> {
  const { planOf } = await import('./viewport-plan.js');
  const plan = planOf(options, await keyStyle(options));
  if (options.json === true) return console.log(JSON.stringify(plan, null, 2));
  const { bounds, zoom, precision, cells, markers, more } = plan;
  console.log(`bounds ${edges(bounds)}, zoom ${zoom}: cells of ${precision} characters`);
  if (cells === null) console.log('\ncells: not stored at this length, computed from the markers');
  else {
    console.log(`\ncells: ${calls(cells)} on the derived table`);
    for (const { pk, from, to } of cells) console.log(`  ${pk}  ${from} .. ${to}`);
  }
  console.log(
    `\nmarkers: ${calls(markers)} on index ${markers[0]?.index ?? 'geoA'}${more ? '; more on the next page' : ''}`,
  );
  for (const { pk, from, to, bounds: covered } of markers)
    console.log(`  ${pk}  ${from} .. ${to}  (${edges(covered)})`);
}

export function planCommand(): Command {
  return new Command('plan')
    .description(
      'Print the key ranges that a viewport reads while pages are not available; uses no database (Viewport.plan shows the current plan)',
    )
    .addOption(boundsOption('bounding box in degrees').makeOptionMandatory())
    .addOption(
      new Option('-z, --zoom <zoom>', 'zoom level as in MapLibre, -2 to 30').argParser(anyNumber).makeOptionMandatory(),
    )
    .option('-c, --collection <key>', 'key of the collection', 'cities')
    .addOption(prefixLengthOption().default(2))
    .addOption(writeShardsOption().default(1))
    .addOption(styleOption())
    .option('--code <code>', 'two-character code of the collection, for compact keys')
    .option('--json', 'print JSON')
    .addHelpText('after', EXIT_CODES)
    .action(printPlan);
}
