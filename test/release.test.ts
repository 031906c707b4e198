import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

import { runsAll } from './support/rounds.js';
import { temporaryFolder } from './support/temporary-folder.js';

const folder = temporaryFolder();
const SCRIPT = resolve(import.meta.dirname, '../scripts/release.mjs');

function run(program: string, ...args: readonly string[]) {
  // Not those of a Git hook or of the npm that runs the tests.
  const own = Object.entries(process.env).filter(([name]) => !/^(git|npm)_/i.test(name));
  const env = { ...Object.fromEntries(own), GIT_CONFIG_GLOBAL: '/dev/null' };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}
const git = (...args: readonly string[]) => run('git', ...args).stdout.trim();
const release = (...args: readonly string[]) => run(process.execPath, SCRIPT, ...args);
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
const commit = () => git('commit', '--quiet', '--all', '--message', 'Change');

test.runIf(runsAll)(
  'a release tests, packs, names what is unreleased, commits and tags; what is not committed, or fails, changes nothing',
  () => {
    const scripts = { test: 'node --version', build: 'echo built' };
    write('package.json', JSON.stringify({ name: 'tried', version: '0.1.0', private: false, scripts }));
    write('package-lock.json', JSON.stringify({ name: 'tried', version: '0.1.0', lockfileVersion: 3, packages: {} }));
    write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n### Added\n\n- Maps.\n\n## 0.1.0\n\n- A start.\n');
    write('.gitignore', '*.tgz\n');
    mkdirSync(join(folder, 'scripts'));
    write('scripts/package-check.mjs', 'process.exit(1);\n');
    git('init', '--quiet');
    git('config', 'user.email', 'somebody@example.com');
    git('config', 'user.name', 'Somebody');
    git('add', '.');
    commit();
    const first = git('rev-parse', 'HEAD');
    const expectUnchanged = () => {
      expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual([first, '', '']);
    };

    expect(release('0.1.0')).toMatchObject({ status: 1, stderr: 'no release: 0.1.0 is not after 0.1.0\n' });
    expect(release().stderr).toContain('name the version');
    const tried = release('0.2.0', '--dry-run');
    expect(tried.stdout).toMatch(
      /> npm test\n> CHANGELOG.md: "## 0\.2\.0, \d{4}-\d\d-\d\d"\n(> .*\n)+> git tag .* v0\.2\.0/,
    );
    expect(tried.status).toBe(0);
    expectUnchanged();
    expect(release('0.2.0')).toMatchObject({ status: 1, stderr: expect.stringContaining('package-check') as unknown });
    expectUnchanged();
    write('scripts/package-check.mjs', '');
    expect(release('0.2.0').stderr).toContain('not committed');
    commit();

    expect(release('0.2.0').status).toBe(0);
    expect(read('CHANGELOG.md')).toMatch(
      /^## Unreleased\n\n## 0\.2\.0, [\d-]{10}\n\n### Added\n\n- Maps\.\n\n## 0\.1\.0/m,
    );
    expect(JSON.parse(read('package.json'))).toMatchObject({ version: '0.2.0' });
    expect([git('status', '--porcelain'), git('tag'), git('log', '-1', '--format=%s')]).toEqual([
      '',
      'v0.2.0',
      'Release 0.2.0',
    ]);
    expect(read('tried-0.2.0.tgz').length).toBeGreaterThan(0);
    expect(release('0.3.0').stderr).toContain('nothing under Unreleased');
  },
);
