import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { format, resolveConfig } from 'prettier';

import { table } from './rig/statistics.js';
import type { Row, Section } from './section.js';

const PATH = 'docs/benchmarks.md';

const HEAD = `# Benchmarks

\`npm run bench\` runs all benchmarks, \`npm run bench -- http\` the one so named, \`npm run bench -- --quick\` the bars that are
counts, as CI does. Each section is from its last run. Times are compared with a floor or a peer in the same run. The
database is DynamoDB Local 3.3.0 in memory, on the same machine; read units follow AWS's rule (at least 0.5 a Query).
`;

const begins = (name: string) => `<!-- bench: ${name} -->`;
const END = '<!-- end -->';

const measuredOf = ({ measured, against }: Row) => (against === '' ? measured : `${measured}; ${against}`);
const barOf = ({ bar, holds }: Row) => (holds === undefined ? bar : `${bar}: ${holds ? 'holds' : '**missed**'}`);

function body(name: string, { title, rows }: Section, text: string): string {
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const when = new Date().toISOString().slice(0, 10);
  const lines = rows.map((row) => [row.what, measuredOf(row), barOf(row)]);
  const figures = rows.length === 0 ? [] : [table([['what', 'measured; floor or peer', 'bar'], ...lines])];
  const run = `\`${name}\`, ${when}, ${machine}.`;
  return [begins(name), `## ${title}`, run, ...figures, text, END].join('\n\n');
}

/** Writes sections to docs/benchmarks.md, replacing those of earlier runs. */
export async function writeReport(sections: ReadonlyMap<string, Section>): Promise<void> {
  let report = await readFile(PATH, 'utf8').catch(() => HEAD);
  for (const [name, section] of sections) {
    if (section.text === undefined) continue;
    const written = body(name, section, section.text);
    const from = report.indexOf(begins(name));
    const until = from < 0 ? -1 : report.indexOf(END, from) + END.length;
    report = from < 0 ? `${report.trimEnd()}\n\n${written}\n` : report.slice(0, from) + written + report.slice(until);
  }
  await writeFile(PATH, await format(report, { ...(await resolveConfig(PATH)), parser: 'markdown' }));
}
