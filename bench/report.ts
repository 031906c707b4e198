import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { format, resolveConfig } from 'prettier';

import type { Row, Section } from './section.js';

const PATH = 'docs/benchmarks.md';

/** The default machine, named once at the top of the file. Sections measured elsewhere name theirs. */
const USUAL_MACHINE = '2 cores, 24 GiB, Node v20.20.2';

const HEAD = `# Benchmarks

\`npm run bench\` runs all, \`npm run bench -- NAME\` one, \`npm run bench -- --quick\` checks counts, as CI does. Below each
title are NAME and date of the last run, on ${USUAL_MACHINE}, with DynamoDB Local 3.3.0 in memory. A line has the figure; a
floor or peer in the same run; in brackets the bar, held unless marked **missed**. A Query takes at least 0.5 read units, as at
AWS. Requests are Query and BatchGetItem calls.
`;

/** The start of the line below a section's title. */
const runOf = (name: string) => `\n\`${name}\`, `;

/** `- requests, p90: 3; geo index 7 (≤ 5)`. */
function lineOf({ what, measured, against, bar, holds }: Row): string {
  const target = bar.replace(/^at most /, '≤ ').replace(/^at least /, '≥ ');
  const verdict = holds === false ? `${target}: **missed**` : target;
  return `- ${what}: ${measured}${against && `; ${against}`}${verdict && ` (${verdict})`}`;
}

function body(name: string, { title, rows }: Section, text: string): string {
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const when = new Date().toISOString().slice(0, 10);
  const figures = rows.length === 0 ? [] : [rows.map(lineOf).join('\n')];
  const run = `${runOf(name)}${when}${machine === USUAL_MACHINE ? '' : `, ${machine}`}.`;
  return [`## ${title}`, run, ...figures, text].join('\n\n');
}

/** Writes sections to docs/benchmarks.md, replacing those of earlier runs. */
export async function writeReport(sections: ReadonlyMap<string, Section>): Promise<void> {
  const report = await readFile(PATH, 'utf8').catch(() => HEAD);
  const [head = '', ...parts] = report.split(/^(?=## )/m);
  for (const [name, section] of sections) {
    if (section.text === undefined) continue;
    const found = parts.findIndex((part) => part.includes(runOf(name)));
    parts[found < 0 ? parts.length : found] = body(name, section, section.text);
  }
  await writeFile(
    PATH,
    await format([head, ...parts].join('\n\n'), { ...(await resolveConfig(PATH)), parser: 'markdown' }),
  );
}
