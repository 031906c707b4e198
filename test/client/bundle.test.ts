import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, test } from 'vitest';

test('the client is under 7.7 KB gzipped, in one file that imports nothing', async () => {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      target: 'es2022',
      rolldownOptions: {
        input: fileURLToPath(new URL('../../src/client/public.ts', import.meta.url)),
        preserveEntrySignatures: 'strict',
        output: { minify: true },
      },
    },
  });
  const files = [result].flat().flatMap((each) => ('output' in each ? each.output : []));
  expect(files).toHaveLength(1);
  const [bundle] = files;
  if (bundle?.type !== 'chunk') throw new Error('the bundle is code');
  expect([...bundle.imports, ...bundle.dynamicImports]).toEqual([]);
  expect(bundle.exports).toEqual(expect.arrayContaining(['createViewport', 'viewportSource', 'toFeatures']));
  expect(gzipSync(bundle.code, { level: 9 }).length).toBeLessThan(7_700);
});
