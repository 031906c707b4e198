// The functions for AWS Lambda, each as one file: it needs no node_modules, and the part of the SDK that it uses is its
// own. The mode, `stream` or `http`, is the name of the function.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The schema as a part of the file, in place of what reads it from its folder. */
const schemaInside = {
  name: 'schema-inside',
  enforce: 'pre',
  load(id) {
    if (!id.endsWith('/src/graphql/schema-text.ts')) return undefined;
    const files = readdirSync(here('../schema')).filter((file) => file.endsWith('.graphql'));
    const texts = files.toSorted().map((file) => readFileSync(here(`../schema/${file}`), 'utf8'));
    return `export const SCHEMA = ${JSON.stringify(texts)};`;
  },
};

export default defineConfig(({ mode }) => ({
  root: here('..'),
  logLevel: 'warn',
  plugins: [schemaInside],
  ssr: { noExternal: true },
  build: {
    ssr: `src/lambda/${mode}.ts`,
    outDir: here('../dist/lambda'),
    emptyOutDir: false,
    target: 'node22',
    minify: true,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: { entryFileNames: `${mode}.mjs`, codeSplitting: false },
    },
  },
}));
