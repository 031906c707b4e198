import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from 'vite';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Programs of tests that run in processes of their own. */
const PROGRAMS = [
  'test/engine/user.ts',
  'test/graphql/tracing-sdk.ts',
  'test/jobs/repartition-worker.ts',
  'test/search/opensearch/worker.ts',
  'test/stream/kill/worker.ts',
];
/** The files that compiled code reads outside `src/`, where they are. */
const LINKED = ['node_modules', 'package.json', 'schema', 'java', 'dist'];

/** Writes a file unless it has this content. Another test run, which has the same content, may be reading it. */
async function update(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => '')) === content) return;
  await mkdir(dirname(path), { recursive: true });
  const written = `${path}.${process.pid}`;
  await writeFile(written, content);
  await rename(written, path);
}

/** Lets a folder contain a file or folder of this project. */
async function link(name: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await symlink(join(root, name), join(folder, name)).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
}

/**
 * Writes `src/` and the programs of tests as plain JavaScript to a folder. Child processes that run it start with a
 * quarter of the CPU time that they would take with tsx.
 */
export async function compile(folder: string): Promise<void> {
  const names = await readdir(join(root, 'src'), { recursive: true });
  const sources = names.filter((name) => name.endsWith('.ts')).map((name) => join('src', name));
  const compileFile = async (path: string) => {
    const { code } = await transformWithOxc(await readFile(join(root, path), 'utf8'), path, { sourcemap: false });
    await update(join(folder, path.replace(/\.ts$/, '.js')), code);
  };
  await Promise.all([...[...sources, ...PROGRAMS].map(compileFile), ...LINKED.map((name) => link(name, folder))]);
}
