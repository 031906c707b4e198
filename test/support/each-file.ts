import { afterAll } from 'vitest';

import { betweenFiles } from './between-files.js';

// Vitest runs this file once for each test file; what it imports is there once for all test files of a process.
afterAll(async () => {
  for (const tidy of betweenFiles) await tidy();
});
