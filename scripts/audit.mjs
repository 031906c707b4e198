// Fails if a package that users install, or that is bundled for them, has a known advisory. Says that it was skipped where
// the registry of this machine answers no audits, as mirrors often do (405).
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { BUNDLED } from './bundle-packages.mjs';

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const { dependencies, peerDependencies } = packages[''];
/** By name alone: where there are several versions of a package, all of them count. */
const ours = new Set([...BUNDLED, ...Object.keys({ ...dependencies, ...peerDependencies })]);
for (const name of ours) {
  for (const [place, found] of Object.entries(packages)) {
    if (!place.endsWith(`node_modules/${name}`)) continue;
    for (const needed of Object.keys({ ...found.dependencies, ...found.optionalDependencies })) ours.add(needed);
  }
}

const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8' });
const answer = JSON.parse(stdout);
if (answer.vulnerabilities === undefined) {
  console.log(`SKIPPED: no audit of the dependencies (${answer.message ?? answer.error?.summary ?? 'no answer'})`);
} else {
  for (const { name, severity, range } of Object.values(answer.vulnerabilities)) {
    if (!ours.has(name)) continue;
    console.log(`${name} ${range}: ${severity}`);
    process.exitCode = 1;
  }
}
