import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

import * as client from '../../src/client/public.js';
import { bundleClient } from '../support/bundle-client.js';

const bytesOf = ({ code }: { readonly code: string }) => gzipSync(code, { level: 9 }).length;

test('the client is one file that imports nothing, under 7.75 KB gzipped without liveTiles, which is under 1.7 KB', async () => {
  const { imports, dynamicImports, exports } = await bundleClient();
  expect([...imports, ...dynamicImports]).toEqual([]);
  expect(exports.sort()).toEqual(Object.keys(client).sort());
  expect(exports).toEqual(expect.arrayContaining(['createViewport', 'liveTiles', 'viewportSource', 'toFeatures']));
  expect(bytesOf(await bundleClient(exports.filter((name) => name !== 'liveTiles')))).toBeLessThan(7_750);
  expect(bytesOf(await bundleClient(['liveTiles']))).toBeLessThan(1_700);
});
