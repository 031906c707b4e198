// Builds the server (TypeScript into dist/), the functions for AWS Lambda (a file each in dist/lambda/), the map page and
// GraphiQL (Vite into dist/page/ and dist/graphiql/) in parallel.
// `node scripts/build.mjs` builds everything; `--if-needed` skips parts that are newer than their sources; `--pages` leaves
// out the server. `--compress` also compresses the pages' files, which takes as long again and is not needed on one
// machine.

import { spawn } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundlePackages } from './bundle-packages.mjs';
import { BEST, precompress, QUICK } from './precompress.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const parts = [
  {
    name: 'the server',
    stamp: 'dist/.built-server',
    result: 'dist/cli/main.js',
    sources: [
      'src',
      'schema',
      'scripts/bundle-packages.mjs',
      'tsconfig.json',
      'tsconfig.build.json',
      'package-lock.json',
    ],
    command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
    finish: () => Promise.all([writeSchema(), bundlePackages()]),
  },
  ...['stream', 'http'].map((mode) => ({
    name: `the Lambda function ${mode}`,
    stamp: `dist/.built-lambda-${mode}`,
    result: `dist/lambda/${mode}.mjs`,
    sources: ['src', 'schema', 'scripts/lambda.vite.config.mjs', 'package-lock.json'],
    command: ['node_modules/vite/bin/vite.js', 'build', '--config', 'scripts/lambda.vite.config.mjs', '--mode', mode],
  })),
  {
    name: 'the map page',
    isPage: true,
    stamp: 'dist/.built-map',
    result: 'dist/page/index.html',
    sources: ['web/map', 'web/access', 'src/client', 'src/ingest', 'src/geo', 'src/errors.ts', 'package-lock.json'],
    command: ['node_modules/vite/bin/vite.js', 'build', '--config', 'web/map/build/vite.config.ts'],
  },
  {
    name: 'GraphiQL',
    isPage: true,
    stamp: 'dist/.built-graphiql',
    result: 'dist/graphiql/index.html',
    sources: ['web/graphiql', 'web/access', 'web/map/dom', 'src/client', 'examples/sensors', 'package-lock.json'],
    command: ['node_modules/vite/bin/vite.js', 'build', '--config', 'web/graphiql/vite.config.ts'],
  },
];

/** Latest modification time of a file, or of a folder and its contents (deleting a file changes its folder); 0 if missing. */
async function changedAt(path) {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  const inside = await Promise.all((await readdir(path)).map((name) => changedAt(join(path, name))));
  return Math.max(found.mtimeMs, ...inside);
}

async function isBuilt({ stamp, result, sources }) {
  const [built, resultAt, ...changed] = await Promise.all(
    [stamp, result, ...sources].map((path) => changedAt(join(root, path))),
  );
  // An installed package has no sources and nothing to build.
  return resultAt > 0 && (changed[0] === 0 || built > Math.max(...changed));
}

function run(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command.join(' ')} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/** One file for tools that read a schema from a package. */
async function writeSchema() {
  const folder = join(root, 'schema');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.graphql')).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  await writeFile(join(root, 'dist/schema.graphql'), texts.join('\n'));
}

async function buildPart({ name, stamp, command, finish }) {
  const began = new Date();
  await mkdir(join(root, 'dist'), { recursive: true });
  await run(command);
  await finish?.();
  // The start time, because the build may have missed changes made while it ran.
  await writeFile(join(root, stamp), '');
  await utimes(join(root, stamp), began, began);
  console.error(`built ${name} in ${((Date.now() - began.getTime()) / 1000).toFixed(1)} s`);
}

/**
 * Builds all parts, with `pages` only the pages, and with `ifNeeded` only what is older than its sources; `compress`
 * compresses the pages with this quality of brotli.
 */
export async function build({ ifNeeded, pages = false, compress }) {
  const wanted = pages ? parts.filter(({ isPage }) => isPage) : parts;
  const built = await Promise.all(wanted.map(async (part) => ifNeeded && (await isBuilt(part))));
  const missing = wanted.filter((_, at) => !built[at]);
  if (missing.length > 0) console.error(`building ${missing.map(({ name }) => name).join(', ')} …`);
  const results = await Promise.allSettled(missing.map(buildPart));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const main = join(root, parts[0].result);
  if ((await changedAt(main)) > 0) await chmod(main, 0o755);
  if (compress === undefined) return;
  await Promise.all(['dist/page', 'dist/graphiql'].map((folder) => precompress(join(root, folder), compress)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const has = (option) => process.argv.includes(option);
  const compress = has('--compress') ? BEST : has('--compress-quickly') ? QUICK : undefined;
  await build({ ifNeeded: has('--if-needed'), pages: has('--pages'), compress }).catch((error) => {
    console.error(`the build failed: ${error.message}`);
    process.exitCode = 1;
  });
}
