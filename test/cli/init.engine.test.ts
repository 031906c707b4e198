import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { beforeAll, expect, inject, test } from 'vitest';
import { parse } from 'yaml';

import { readConfig } from '../../src/config.js';
import { createTable, putItem } from '../sources/foreign-table.js';
import { TABLES } from '../sources/tables.js';
import { variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, testDatabase } from '../support/test-database.js';

const db = await testDatabase();
const folder = temporaryFolder();
const main = () => join(inject('compiled'), 'src/cli/main.js');
const root = join(import.meta.dirname, '../..');
/** As in a shell that does not tell where the database is, but whose part of it is this file's. */
const { AWS_ENDPOINT_URL_DYNAMODB: _, ...ofFile } = engineSettings();
const shell = { PATH: process.env['PATH'], ...ofFile };

interface Ended {
  readonly code: number;
  readonly output: string;
}

const run = (cwd: string, ...args: string[]) =>
  new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, args, { cwd, env: shell }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
    );
    child.stdin?.end();
  });

const USED = ['03', '16', '23'];
let folders = 0;
async function newFolder(): Promise<string> {
  const path = join(folder, `project ${folders++}`);
  await mkdir(path);
  return path;
}
const init = (cwd: string, ...options: string[]) => run(cwd, main(), 'init', ...options);

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image: string;
        readonly command?: readonly string[];
        readonly ports: readonly string[];
        readonly volumes?: readonly string[];
        readonly environment?: Readonly<Record<string, string | number>>;
        readonly env_file?: string;
      }
    >
  >;
  readonly volumes?: object;
}
const read = (cwd: string, file: string) => readFile(join(cwd, file), 'utf8');
const composeIn = async (cwd: string) => parse(await read(cwd, 'docker-compose.yml')) as Compose;
const envIn = async (cwd: string) => parseEnv(await read(cwd, '.env')) as Record<string, string>;

beforeAll(async () => {
  for (const { name, key, items } of TABLES.filter(({ id }) => USED.includes(id))) {
    await createTable(db, name, key, 'NEW_AND_OLD_IMAGES');
    for (const item of items) await putItem(db, name, item);
  }
});

test.each(variants(USED))(
  'of table %s, a mapping is written that its check accepts with the settings of .env',
  async (id) => {
    const { name } = TABLES.find((each) => each.id === id)!;
    const cwd = await newFolder();
    const endpoint = String(engine().endpoint);
    const { code, output } = await init(cwd, '--table', name, '--database', endpoint, '--port', '4123');
    expect(output).toMatch(/wrote docker-compose.yml\nwrote .env\nwrote [a-z0-9_-]+\.json/);
    expect(code).toBe(0);
    const config = readConfig({}, await envIn(cwd));
    expect(config).toMatchObject({ database: { kind: 'configured', endpoint }, http: { port: 4123 }, unknown: [] });
    // As printed, for a shell.
    const [, command = ''] = /^Next:\n +(.*)$/m.exec(output) ?? [];
    expect(command).toContain('--env-file=.env');
    const checked = await new Promise<Ended>((resolve) =>
      execFile('sh', ['-c', command], { cwd, env: shell }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
      ),
    );
    expect(checked.output).toMatch(/[1-9]\d* are markers/);
    expect(checked.code).toBe(0);
    const [, key, file] = /source create (\S+) (\S+)$/m.exec(output) ?? [];
    expect(key).toMatch(/^[a-z0-9][a-z0-9_-]{0,62}$/);
    expect((JSON.parse(await read(cwd, file!)) as { table: string }).table).toBe(name);
    // In a container, this machine has another name.
    const { services } = await composeIn(cwd);
    const inside = String(services['cellport']?.environment?.['AWS_ENDPOINT_URL_DYNAMODB']);
    expect(inside).toBe(endpoint.replace('127.0.0.1', 'host.docker.internal'));
  },
);

test('a compose file starts the image of the Dockerfile, with a DynamoDB Local like that of this repository, or AWS', async () => {
  const cwd = await newFolder();
  const { code, output } = await init(cwd, '--port', '8081');
  expect(code).toBe(0);
  expect(output).toMatch(/^Next:\n +docker compose up --detach dynamodb\n +node .* serve$/m);
  expect((await readdir(cwd)).sort()).toEqual(['.env', 'docker-compose.yml']);
  const { services, volumes } = await composeIn(cwd);
  const own = parse(await read(root, 'docker-compose.yml')) as Compose;
  const { image, command, volumes: data, ports } = own.services['dynamodb']!;
  expect(services['dynamodb']).toMatchObject({ image, command, volumes: data, ports });
  expect(volumes).toEqual({ dynamodb: null });
  const dockerfile = await read(root, 'Dockerfile');
  const [, exposed] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? [];
  const { cellport } = services;
  expect(cellport).toMatchObject({
    image: 'cellport',
    env_file: '.env',
    ports: [`127.0.0.1:8081:${exposed}`],
    environment: { PORT: Number(exposed), AWS_ENDPOINT_URL_DYNAMODB: 'http://dynamodb:8000' },
  });
  // The settings of the container: those of the image, then .env, then the compose file.
  const inImage = Object.fromEntries(
    (/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? '').split(' ').map((each) => each.split('=') as [string, string]),
  );
  const container = { ...inImage, ...(await envIn(cwd)), ...cellport?.environment };
  const texts = Object.fromEntries(Object.entries(container).map(([name, value]) => [name, String(value)]));
  expect(readConfig({}, texts)).toMatchObject({
    database: { kind: 'configured', endpoint: 'http://dynamodb:8000' },
    http: { host: '0.0.0.0', port: Number(exposed) },
    readOnly: false,
    auth: false,
    unknown: [],
  });
  expect(readConfig({}, await envIn(cwd))).toMatchObject({
    database: { kind: 'configured', endpoint: 'http://127.0.0.1:8000' },
    http: { port: 8081 },
  });

  const onAws = await newFolder();
  expect((await init(onAws, '--database', 'eu-central-1')).code).toBe(0);
  const aws = await composeIn(onAws);
  expect(Object.keys(aws.services)).toEqual(['cellport']);
  expect(aws.services['cellport']?.volumes).toEqual(['~/.aws:/home/node/.aws:ro']);
  expect(await envIn(onAws)).toEqual({ PORT: '4000', CELLPORT_TABLE: 'cellport', AWS_REGION: 'eu-central-1' });
});

test('files that exist stay as they are without --force', async () => {
  const cwd = await newFolder();
  await writeFile(join(cwd, '.env'), 'MINE=1\n');
  const refused = await init(cwd);
  expect(refused).toMatchObject({
    code: 2,
    output: expect.stringMatching(/to replace \.env in this folder, pass --force/) as string,
  });
  expect(await readdir(cwd)).toEqual(['.env']);
  expect(await envIn(cwd)).toEqual({ MINE: '1' });
  expect((await init(cwd, '--force')).code).toBe(0);
  expect(await envIn(cwd)).toMatchObject({ PORT: '4000' });
});

test('what is not allowed is refused by name, and writes nothing', async () => {
  const cwd = await newFolder();
  for (const [option, answer, allowed] of [
    ['--table', 'my app', /--table must be the name of a table .*; got "my app"/],
    ['--database', 'Frankfurt', /--database must be a region such as eu-central-1, .*; got "Frankfurt"/],
    ['--database', 'http://', /--database must be .*a URL such as/],
    ['--port', '70000', /--port must be a whole number from 1 to 65535; got "70000"/],
    ['--port', '80 ; rm', /--port must be/],
  ] as const) {
    expect(await init(cwd, option, answer)).toMatchObject({
      code: 2,
      output: expect.stringMatching(allowed) as string,
    });
  }
  expect(await readdir(cwd)).toEqual([]);
});

test('without a table that can be read, the rest is written, and what to run later', async () => {
  const cwd = await newFolder();
  const { code, output } = await init(cwd, '--table', 'No.Such_Table', '--database', String(engine().endpoint));
  expect(output).toMatch(/there is no table "No.Such_Table".*\n.*no mapping is written yet/);
  expect(output).toMatch(
    /^Next:\n +node .* source propose --table No\.Such_Table > no-such_table\.json\n +node .* source create no-such_table no-such_table\.json\n +node .* serve$/m,
  );
  expect(code).toBe(0);
  expect((await readdir(cwd)).sort()).toEqual(['.env', 'docker-compose.yml']);
});

test('on a terminal, answers may be pasted together; without all of them, nothing is written', async () => {
  for (const [answers, code] of [
    ['\nus-east-1\n4002\n', 0],
    ['\nus-east-1\n\u0004', 1],
  ] as const) {
    const cwd = await newFolder();
    const child = spawn('script', ['-qec', `${process.execPath} ${main()} init`, '/dev/null'], { cwd, env: shell });
    child.stdout.once('data', () => child.stdin.write(answers));
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(code);
    if (code === 0) expect(await envIn(cwd)).toMatchObject({ PORT: '4002', AWS_REGION: 'us-east-1' });
    else expect(await readdir(cwd)).toEqual([]);
  }
});

test('on a terminal, three questions are asked, each until its answer is allowed', async () => {
  const cwd = await newFolder();
  const child = spawn('script', ['-qec', `${process.execPath} ${main()} init`, '/dev/null'], { cwd, env: shell });
  let output = '';
  const answers: readonly (readonly [RegExp, string])[] = [
    [/Which DynamoDB table/, ''],
    [/Where is DynamoDB/, 'Mars'],
    [/the answer must be a region such as eu-central-1.*got "Mars"[\s\S]*Where is DynamoDB/, 'eu-west-1'],
    [/On which port/, '4001'],
  ];
  let next = 0;
  child.stdout.on('data', (piece: Buffer) => {
    output += piece.toString();
    const [question, answer] = answers[next] ?? [/$^/, ''];
    if (!question.test(output)) return;
    next += 1;
    child.stdin.write(`${answer}\n`);
  });
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  expect(next).toBe(answers.length);
  expect(await envIn(cwd)).toEqual({ PORT: '4001', CELLPORT_TABLE: 'cellport', AWS_REGION: 'eu-west-1' });
});
