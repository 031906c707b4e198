import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const CLIENT = fileURLToPath(new URL('../../src/client/public.ts', import.meta.url));
const ONLY = '\0only';

/** The exports of the client with these names, or all, as one minified module without what they do not need. */
export async function bundleClient(names?: readonly string[]) {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'only',
        resolveId: (id) => (id === ONLY ? id : undefined),
        load: (id) => (id === ONLY ? `export { ${names?.join()} } from ${JSON.stringify(CLIENT)};` : undefined),
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      rolldownOptions: {
        input: names ? ONLY : CLIENT,
        preserveEntrySignatures: 'strict',
        output: { minify: true },
      },
    },
  });
  const [bundle, ...others] = [result].flat().flatMap((each) => ('output' in each ? each.output : []));
  if (bundle?.type !== 'chunk' || others.length > 0) throw new Error('the bundle is not one file of code');
  return bundle;
}
