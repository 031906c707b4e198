import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

import { compile } from './compile.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = join(root, 'src/');

/** Vitest's cache of modules names files in it, so it is the same folder in all runs. */
export const COMPILED = join(root, 'node_modules/.cellport/compiled');

// Vitest loads its configuration, and so this file, once per project.
const run = globalThis as { cellportCompiled?: Promise<void> };

/**
 * Lets whole runs load `src/` as Node does. Vite, which makes each module a function and each name that it exports a
 * property, took a fifth of their time. Other runs load the sources, which Vitest watches.
 */
export async function compiledSource(): Promise<Plugin> {
  await (run.cellportCompiled ??= compile(COMPILED));
  return {
    name: 'compiled-source',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      if (!found?.id.startsWith(SOURCE) || !found.id.endsWith('.ts')) return found;
      return join(COMPILED, 'src', found.id.slice(SOURCE.length).replace(/\.ts$/, '.js'));
    },
  };
}

/**
 * Lets other runs start threads of the search index from JavaScript: with tsx, each of its more than 100 threads would
 * compile the same modules again, which takes 0.7 s of CPU time.
 */
export async function compiledSearchThread(): Promise<Plugin> {
  const recompile = () => (run.cellportCompiled = compile(COMPILED));
  await (run.cellportCompiled ?? recompile());
  const compiled = JSON.stringify(pathToFileURL(join(COMPILED, 'src/search/embedded/call-thread.js')).href);
  return {
    name: 'compiled-search-thread',
    watchChange: recompile,
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/search\/embedded\/call-thread\.ts$/ },
      handler: (code) => code.replaceAll('import.meta.url', compiled),
    },
  };
}
