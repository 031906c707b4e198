// Makes a release of what is committed: `npm run release -- 0.2.0`; `--dry-run` only says what it would do. Tests, gives
// the CHANGELOG's section Unreleased the version and the date, builds, checks and packs the package, commits, and tags.
// Publishing is left to the owner of the name (CONTRIBUTING.md, "What is published").

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const WRITTEN = ['CHANGELOG.md', 'package.json', 'package-lock.json'];

const version = process.argv[2] ?? '';
const dryRun = process.argv.includes('--dry-run');
const output = (...command) => execFileSync(command[0], command.slice(1), { encoding: 'utf8' }).trim();

/** The numbers of a version, for comparison. */
const numbersOf = (text) =>
  text
    .split('.')
    .map((part) => part.padStart(9, '0'))
    .join('.');

/** Says why the release cannot be made; undefined if it can. */
function refusal(changelog) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return `name the version, for example 0.2.0; got "${version}"`;
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8'));
  if (numbersOf(version) <= numbersOf(current)) return `${version} is not after ${current}`;
  if (output('git', 'tag', '--list', `v${version}`) !== '') return `there is a tag v${version} already`;
  if (output('git', 'status', '--porcelain') !== '') return 'the tree has changes that are not committed';
  if (!/^## Unreleased\n+(?!## )\S/m.test(changelog)) return 'CHANGELOG.md has nothing under Unreleased';
  return undefined;
}

function run(...command) {
  console.log(`> ${command.join(' ')}`);
  if (!dryRun) execFileSync(command[0], command.slice(1), { stdio: 'inherit' });
}

function release() {
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  const reason = refusal(changelog);
  if (reason !== undefined) throw new Error(reason);
  run('npm', 'test');
  const heading = `## ${version}, ${new Date().toISOString().slice(0, 10)}`;
  console.log(`> CHANGELOG.md: "${heading}"`);
  if (!dryRun) writeFileSync('CHANGELOG.md', changelog.replace(/^## Unreleased$/m, `## Unreleased\n\n${heading}`));
  try {
    run('npm', 'version', version, '--no-git-tag-version');
    run('npm', 'run', 'build');
    run('node', 'scripts/package-check.mjs');
    run('npm', 'pack', '--ignore-scripts');
    run('git', 'commit', '--quiet', '--message', `Release ${version}`, ...WRITTEN);
  } catch (error) {
    if (!dryRun) execFileSync('git', ['checkout', '--quiet', 'HEAD', '--', ...WRITTEN]);
    throw error;
  }
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Cellport ${version}`);
}

try {
  release();
} catch (error) {
  console.error(`no release: ${error.message}`);
  process.exitCode = 1;
}
