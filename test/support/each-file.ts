import { afterAll } from 'vitest';

import { betweenFiles } from './between-files.js';

// Vitest runs this file once per test file; its imports are loaded once for all test files of a process.
afterAll(async () => {
  for (const tidy of betweenFiles) await tidy();
});
