import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'node_modules/.cellport');

async function compile(): Promise<void> {
  const options = { ssr: join(root, 'src/search/embedded/thread.ts'), write: false, minify: false };
  const built = (await build({ configFile: false, logLevel: 'warn', build: options })) as {
    output: { code: string }[];
  };
  await mkdir(folder, { recursive: true });
  // Threads of another test run may be starting from the former one.
  const path = join(folder, `thread-${process.pid}.js`);
  await writeFile(path, built.output[0]?.code ?? '');
  await rename(path, join(folder, 'thread.js'));
}

// Vitest loads its configuration, and so this file, once per project.
const run = globalThis as { cellportSearchThread?: Promise<void> };

/**
 * Lets tests start threads of the search index from one JavaScript file. With tsx, each of the more than 100 threads of a
 * run would compile the same modules again, which takes 0.7 s of CPU time.
 */
export async function searchThread(): Promise<Plugin> {
  await (run.cellportSearchThread ??= compile());
  const compiled = JSON.stringify(pathToFileURL(join(folder, 'call-thread.js')).href);
  return {
    name: 'search-thread',
    watchChange: compile,
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/search\/embedded\/call-thread\.ts$/ },
      handler: (code) => code.replaceAll('import.meta.url', compiled),
    },
  };
}
