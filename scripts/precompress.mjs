// Writes copies of the built pages' files that are compressed with brotli (.br) and gzip (.gz), for clients that accept
// them.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Other files are already compressed (woff2, png) or hardly shrink. */
const COMPRESSIBLE = /\.(html|m?js|css|svg|json|ttf|pbf)$/;
/** A copy that saves less, as a share of the file or in bytes, is not worth its space in the package. */
const LEAST_PART_SAVED = 1 / 4;
const LEAST_BYTES_SAVED = 1_000;

const brotlied = promisify(brotliCompress);
const gzipped = promisify(gzip);

/** Qualities of brotli. The quick one takes a twelfth of the time of the best, and its files are 5 % larger. */
export const BEST = constants.BROTLI_MAX_QUALITY;
export const QUICK = 9;

const encodings = (quality) => [
  [
    '.br',
    (body) => {
      const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
      return brotlied(body, { params });
    },
  ],
  ['.gz', (body) => gzipped(body, { level: constants.Z_BEST_COMPRESSION })],
];

async function compress(path, quality) {
  const body = await readFile(path);
  const least = Math.max(LEAST_BYTES_SAVED, LEAST_PART_SAVED * body.length);
  if (body.length <= least) return;
  await Promise.all(
    encodings(quality).map(async ([extension, encode]) => {
      const encoded = await encode(body);
      if (body.length - encoded.length >= least) await writeFile(path + extension, encoded);
    }),
  );
}

/** Compresses the files of a folder and of the folders in it, unless that has been done: each build empties the folder. */
export async function precompress(folder, quality) {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  if (files.some(({ name }) => name.endsWith('.br'))) return;
  const compressible = files.filter(({ name }) => COMPRESSIBLE.test(name));
  await Promise.all(compressible.map(({ parentPath, name }) => compress(join(parentPath, name), quality)));
}
