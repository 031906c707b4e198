import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** schema/ is next to src/ in the repository and next to dist/ in the package. */
const FOLDER = join(import.meta.dirname, '../../schema');

/** The text of schema/*.graphql. The function for AWS Lambda has it in its only file: scripts/lambda.vite.config.mjs replaces this one. */
export const SCHEMA: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.graphql'))
  .sort()
  .map((file) => readFileSync(join(FOLDER, file), 'utf8'));
