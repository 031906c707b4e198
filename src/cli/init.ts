import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';

import { CellportError } from '../errors.js';
import { PRIVATE_FILE } from '../private-files.js';
import { endOf, Interrupted } from './failure.js';
import type { Answers } from './init/questions.js';
import { withDatabase } from './session.js';

/** A mapping of the table in JSON; undefined, with the reason printed, if none can be proposed. */
async function mappingOf(table: string): Promise<string | undefined> {
  let mapping: string | undefined;
  await withDatabase(async (session) => {
    const { proposeMapping } = await import('./source/propose.js');
    mapping = await proposeMapping(session, { table });
  }).catch((error: unknown) => {
    if (error instanceof Interrupted) throw error;
    console.error(`${endOf(error).message}\nSo no mapping is written yet.`);
  });
  return mapping;
}

async function init({ force = false, ...given }: Partial<Answers> & { readonly force?: boolean }): Promise<void> {
  const { answersTo } = await import('./init/questions.js');
  const { filesFor } = await import('./init/files.js');
  const answers = await answersTo(given);
  const files = Object.entries(filesFor(answers));
  const { table } = answers;
  const key = /[a-z0-9][a-z0-9_-]{0,62}/.exec(table.toLowerCase().replaceAll('.', '-'))?.[0] ?? 'places';
  const file = `${key}.json`;
  const there = [...files.map(([path]) => path), ...(table === '' ? [] : [file])].filter((path) => existsSync(path));
  if (there.length > 0 && !force) {
    throw new CellportError('BAD_USER_INPUT', `to replace ${there.join(', ')} in this folder, pass --force`);
  }
  const write = (path: string, text: string) =>
    writeFile(path, text, { ...PRIVATE_FILE, flag: force ? 'w' : 'wx' }).then(() => console.log(`wrote ${path}`));
  for (const [path, text] of files) await write(path, text);
  process.loadEnvFile('.env');
  const mapping = table === '' ? undefined : await mappingOf(table);
  if (mapping !== undefined) await write(file, `${mapping}\n`);
  const first = mapping === undefined ? `source propose --table ${table} > ${file}` : `source check ${file}`;
  const source = table === '' ? [] : [first, `source create ${key} ${file}`];
  const cellport = `node --env-file=.env ${JSON.stringify(fileURLToPath(new URL('main.js', import.meta.url)))}`;
  const commands = [...source, 'serve'].map((command) => `${cellport} ${command}`);
  if (answers.database === 'local') commands.unshift('docker compose up --detach dynamodb');
  console.log(`Next:\n${commands.map((command) => `  ${command}\n`).join('')}`);
}

export function initCommand(): Command {
  return new Command('init')
    .description(
      'Write a docker-compose.yml, an .env and a first mapping to this folder; asks three questions unless options answer them',
    )
    .option('--table <name>', 'your table with the places to show (default: none, Cellport stores them)')
    .option('--database <where>', 'an AWS region, a URL, or `local` for a container (default: local)')
    .option('--port <n>', 'port of the map on this machine (default: 4000)')
    .option('--force', 'replace existing files')
    .action(init);
}
