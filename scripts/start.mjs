// `npm start`: builds what is not built, then serves with demo data. One process throughout, so that Ctrl-C and SIGTERM,
// which npm hands on to its child alone, reach the server itself.

import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

try {
  await build({ ifNeeded: true });
} catch (error) {
  console.error(`the build failed: ${error.message}`);
  process.exit(1);
}
const main = new URL('../dist/cli/main.js', import.meta.url);
process.argv = [process.argv[0], fileURLToPath(main), 'serve', '--demo', ...process.argv.slice(2)];
await import(main.href);
