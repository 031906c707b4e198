// The function for AWS Lambda as one file: it needs no node_modules, and the part of the SDK that it uses is its own.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('..'),
  logLevel: 'warn',
  ssr: { noExternal: true },
  build: {
    ssr: 'src/lambda/stream.ts',
    outDir: here('../dist/lambda'),
    emptyOutDir: true,
    target: 'node22',
    minify: true,
    reportCompressedSize: false,
    rolldownOptions: { output: { entryFileNames: 'stream.mjs', codeSplitting: false } },
  },
});
