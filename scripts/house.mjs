// Prints figures about src/ that should not grow unnoticed: `node scripts/house.mjs`. CI prints them for comparison.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function filesOf(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|css|html)$/.test(file) && !file.endsWith('generated.ts'))
    .map((file) => ({ path: join(folder, file), text: readFileSync(join(root, folder, file), 'utf8') }));
}

const linesOf = ({ text }) => text.split('\n').length - 1;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

const src = filesOf('src');
const count = (pattern) => sum(src.map(({ text }) => text.match(pattern)?.length ?? 0));

const importers = new Map(src.map(({ path }) => [path, 0]));
for (const { path, text } of src) {
  const imported = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)\.js'/g)];
  const targets = new Set(imported.map(([, to]) => `${join(dirname(path), to)}.ts`));
  for (const target of targets) if (importers.has(target)) importers.set(target, importers.get(target) + 1);
}
const withOneImporter = src.filter(({ path }) => importers.get(path) === 1);
const inFolder = new Map();
for (const { path } of src) inFolder.set(dirname(path), (inFolder.get(dirname(path)) ?? 0) + 1);
const [largest] = [...inFolder].toSorted(([, a], [, b]) => b - a);

/** Words that once had several meanings, by the only folders that may use them in names. */
const WORDS = {
  page: /^src\/(pages|read\/from-pages|store\/page|stream\/pages)\//,
  layout: /^src\/(store|jobs|model)\//,
};
const strayNames = ([word, home]) =>
  new Set(
    src
      .filter(({ path }) => !home.test(path))
      .flatMap(({ text }) => text.match(new RegExp(`\\b\\w*${word}\\w*\\b`, 'gi')) ?? [])
      .filter((name) => name.toLowerCase() !== word && name.toLowerCase() !== `${word}s`),
  ).size;

const docs = ['README.md', ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`)]
  .filter((file) => file.endsWith('.md'))
  .map((file) => readFileSync(join(root, file), 'utf8'));
/** Words have a letter or a digit, unlike the bars of tables. */
const words = sum(docs.map((text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length));

const figures = [
  ...['src', 'web', 'test'].map((folder) => {
    const files = folder === 'src' ? src : filesOf(folder);
    const lines = files.map(linesOf);
    return [
      folder,
      `${sum(lines)} lines in ${files.length} files, median ${median(lines)}, longest ${Math.max(...lines)}`,
    ];
  }),
  ['words in README and docs', words],
  ['most files in a folder of src', `${largest[1]} (${largest[0]})`],
  [
    'files with one importer',
    `${withOneImporter.length}, ${withOneImporter.filter((file) => linesOf(file) <= 30).length} of them up to 30 lines`,
  ],
  ['Pick, Omit', count(/\b(?:Pick|Omit)</g)],
  ['...options', count(/\.\.\.(?:this\.#)?(?:options|parts|services)\b/g)],
  ['functions called nameOf, textOf', count(/(?:const|function) (?:nameOf|textOf)\b/g)],
  ["index: 'cells'", count(/index: 'cells'/g)],
  ...Object.entries(WORDS).map((entry) => [`names with "${entry[0]}" outside its folders`, strayNames(entry)]),
];
for (const [what, figure] of figures) console.log(`${what}: ${figure}`);
