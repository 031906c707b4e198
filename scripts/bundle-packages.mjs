// Puts packages into the built server: each becomes one file in dist/packages/, of what the server imports from it, and
// the server's imports are changed to it. What users install is then a third as large, without the packages that are for a
// newer Node, which our overrides keep out and theirs would not (CONTRIBUTING.md, "What is published").

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const folder = join(dist, 'packages');

/** Packages of pure JavaScript that are in none of the published types. */
export const BUNDLED = [
  '@apollo/server',
  '@fastify/cors',
  '@fastify/static',
  '@graphql-tools/schema',
  '@opentelemetry/api',
  'csv-parse',
  'fastify',
  'flatgeobuf',
  'graphql-jit',
  'hyparquet-writer',
  'lru-cache',
  'prom-client',
  'topojson-client',
  'zod',
];
const isBundled = (path) => BUNDLED.some((name) => path === name || path.startsWith(`${name}/`));

/** An import of the server that names a package, or the file in dist/packages/ that it became in an earlier build. */
const IMPORT = /^import (?<names>[^'";]+?) from '(?:(?:\.{1,2}\/)+packages\/(?<built>.+)\.js|(?<path>[^'.][^']*))';$/gm;

/** The built files of the server with their text. */
async function serverFiles() {
  const names = await readdir(dist, { recursive: true });
  const own = names.filter((name) => name.endsWith('.js') && !/^(page|graphiql|lambda|packages)[\\/]/.test(name));
  return Promise.all(own.map(async (name) => [join(dist, name), await readFile(join(dist, name), 'utf8')]));
}

/** The names that an import takes: of `a, { b as c }`, these are `default` and `b`. */
function namesIn(clause) {
  const { first, list = '' } = /^(?<first>[\w$]+)?,?\s*(?:\{(?<list>[^}]*)\})?$/.exec(clause)?.groups ?? {};
  if (first === undefined && list === '') throw new Error(`cannot bundle \`import ${clause}\``);
  const named = list.split(',').map((each) => each.trim().split(' as ')[0]);
  return [...(first === undefined ? [] : ['default']), ...named.filter((name) => name !== '')];
}

/** The licenses of all packages that are in the files, with their names and versions. */
async function licensesOf(modules) {
  const packages = new Set(
    modules
      .map((module) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(module.replace(/^\0/, ''))?.[0])
      .filter((found) => found !== undefined),
  );
  const texts = await Promise.all(
    [...packages]
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map(async (place) => {
        const { name, version, license } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8'));
        const file = (await readdir(place)).find((each) => /^(un)?licen[cs]e/i.test(each));
        const text = file === undefined ? '' : (await readFile(join(place, file), 'utf8')).trim();
        return `${name} ${version} (${license})\n\n${text}\n`;
      }),
  );
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

const VIRTUAL = '\0entry/';

/** Bundles what the built server imports from BUNDLED. */
export async function bundlePackages() {
  const files = await serverFiles();
  const wanted = new Map();
  for (const [, text] of files) {
    for (const { groups } of text.matchAll(IMPORT)) {
      const path = groups.built ?? groups.path;
      if (!isBundled(path)) continue;
      wanted.set(path, new Set([...(wanted.get(path) ?? []), ...namesIn(groups.names)]));
    }
  }
  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const modules = new Set();
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true, external: Object.keys({ ...dependencies, ...peerDependencies }) },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      target: 'node20',
      reportCompressedSize: false,
      rolldownOptions: {
        input: Object.fromEntries([...wanted.keys()].map((path) => [path, VIRTUAL + path])),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'shared/[name].js',
          // Names stay, for stack traces.
          minify: { compress: false, mangle: false, codegen: true },
        },
        onLog: (level, log) => level === 'warn' && console.error(log.message),
      },
    },
    plugins: [
      {
        name: 'entries',
        enforce: 'pre',
        resolveId: (id) => (id.startsWith(VIRTUAL) ? id : undefined),
        load(id) {
          if (!id.startsWith(VIRTUAL)) return undefined;
          const path = id.slice(VIRTUAL.length);
          return `export { ${[...wanted.get(path)].join(', ')} } from '${path}';`;
        },
        generateBundle(_options, bundle) {
          for (const chunk of Object.values(bundle)) for (const id of chunk.moduleIds ?? []) modules.add(id);
        },
      },
    ],
  });
  await writeFile(join(folder, 'LICENSES.txt'), await licensesOf([...modules]));
  for (const [file, text] of files) {
    const changed = text.replaceAll(IMPORT, (whole, _names, _built, path) => {
      if (path === undefined || !isBundled(path)) return whole;
      const target = relative(dirname(file), join(folder, `${path}.js`)).replaceAll('\\', '/');
      return whole.replace(`'${path}'`, `'${target.startsWith('.') ? target : `./${target}`}'`);
    });
    if (changed !== text) await writeFile(file, changed);
  }
}
