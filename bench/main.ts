import { parseArgs } from 'node:util';

import { access } from './access.js';
import { admission } from './admission.js';
import { attacks } from './attacks.js';
import { consistency } from './consistency.js';
import { dynamodbGeo } from './dynamodb-geo.js';
import { fieldFigures } from './field-figures.js';
import { fleet } from './fleet.js';
import { growth } from './growth.js';
import { hierarchies } from './hierarchies.js';
import { http } from './http.js';
import { imports } from './import.js';
import { lambda } from './lambda.js';
import { liveChanges } from './live.js';
import { load } from './load.js';
import { moves } from './moves.js';
import { near } from './near.js';
import { nearest } from './nearest.js';
import { pans } from './pans.js';
import { peers } from './peers.js';
import { prefixes } from './prefixes.js';
import { writeReport } from './report.js';
import { sampling } from './sampling.js';
import { scale } from './scale.js';
import { search } from './search.js';
import type { Benchmark, Row, Section } from './section.js';
import { sizes } from './sizes.js';
import { sources } from './sources.js';
import { stalls } from './stalls.js';
import { starting } from './start.js';
import { streaming } from './stream.js';
import { tiles } from './tiles.js';
import { vehicles } from './vehicles.js';
import { viewports } from './viewports.js';
import { workers } from './workers.js';

const ALL: readonly Benchmark[] = [
  starting,
  viewports,
  dynamodbGeo,
  near,
  nearest,
  pans,
  peers,
  prefixes,
  growth,
  streaming,
  imports,
  http,
  workers,
  lambda,
  tiles,
  admission,
  access,
  fieldFigures,
  liveChanges,
  consistency,
  fleet,
  vehicles,
  moves,
  sources,
  hierarchies,
  search,
  load,
  attacks,
  stalls,
  sampling,
  scale,
  sizes,
];

// The SDK's warning about Node 20 would clutter the output.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const { quick } = values;
const unknown = positionals.filter((name) => !ALL.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  console.error(`unknown benchmark: ${unknown.join(', ')}; available: ${ALL.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const show = ({ what, bar, measured, against, holds }: Row) => {
  const notes = [bar && `bar: ${bar}`, against].filter(Boolean).join('; ');
  return `  ${holds === undefined ? '    ' : holds ? 'ok  ' : 'MISS'} ${what}: ${measured}${notes && ` (${notes})`}`;
};

const chosen = ALL.filter(({ name, hasCounts }) =>
  positionals.length > 0 ? positionals.includes(name) : hasCounts || !quick,
);
const sections = new Map<string, Section>();

/** Only a quick run, as in CI, fails on a missed bar. Its last line names the benchmarks that have not passed. */
function endQuickRun(): never {
  const passed = ({ name }: Benchmark) => sections.get(name)?.rows.every(({ holds }) => holds !== false);
  const missed = chosen.filter((benchmark) => passed(benchmark) !== true);
  if (missed.length > 0) console.log(`missed: ${missed.map(({ name }) => name).join(' ')}`);
  process.exit(missed.length > 0 ? 1 : 0);
}

/** Far more than a benchmark of a quick run takes. One that waits for what never comes would hold up CI until its own end. */
const QUICK_LIMIT_S = 600;

async function measured(benchmark: Benchmark): Promise<Section> {
  const { name } = benchmark;
  let said = 'nothing';
  const say = (line: string) => {
    said = line;
    console.error(`${name}: ${line}`);
  };
  const giveUp = (reason: unknown) => {
    console.log(`MISS ${name}; it said last: ${said}; then:`, reason);
    return endQuickRun();
  };
  if (!quick) return benchmark.run({ quick, say });
  const limit = setTimeout(() => giveUp(`no result after ${QUICK_LIMIT_S} s`), QUICK_LIMIT_S * 1_000);
  return benchmark
    .run({ quick, say })
    .catch(giveUp)
    .finally(() => clearTimeout(limit));
}

for (const benchmark of chosen) {
  const begun = performance.now();
  const section = await measured(benchmark);
  console.log(`${section.title} (${Math.round((performance.now() - begun) / 1000)} s)`);
  for (const row of section.rows) console.log(show(row));
  sections.set(benchmark.name, section);
}
if (quick) endQuickRun();
await writeReport(sections);
