import { getOperationAST, parse, type GraphQLFormattedError } from 'graphql';
import { expect, test } from 'vitest';

import { errorFormatter } from '../../../src/graphql/error-format.js';
import { documentReader } from '../../../src/graphql/execution/documents.js';
import { variableErrors } from '../../../src/graphql/execution/variables.js';
import { buildSchema } from '../../../src/graphql/schema.js';
import { silentLog } from '../../../src/log.js';
import { DEFAULT_LIMITS } from '../../../src/model/limits.js';
import { ATTACKS, type Attack } from './documents.js';

const schema = buildSchema();
const format = errorFormatter(silentLog);

/** The verdict on a request, from a process that has never seen its document. */
function verdictOn(
  { query, operationName, variables = '{}' }: Attack,
  { introspection = true } = {},
): readonly GraphQLFormattedError[] {
  const { document, errors } = documentReader({ schema, limits: DEFAULT_LIMITS, introspection, format })(query);
  if (errors) return errors;
  const operation = getOperationAST(document, operationName);
  if (!operation) return [];
  return variableErrors(schema, operation, JSON.parse(variables) as Record<string, unknown>, {
    hideSuggestions: !introspection,
  }).map(format);
}

function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** As long as the longest document that is read. */
const HARMLESS = `{${'__typename '.repeat(5_900)}}`;
const MOST_TIMES_PARSING = 60;

test.each(ATTACKS)('the verdict on $name takes little CPU and repeats little of it', (attack) => {
  const errors = verdictOn(attack);
  expect(errors.length).toBeLessThanOrEqual(21);
  expect(JSON.stringify(errors).length).toBeLessThan(40_000);
  for (const { message, extensions } of errors) {
    expect(message.length).toBeLessThanOrEqual(1_001);
    expect(extensions?.['code']).not.toBe('INTERNAL_SERVER_ERROR');
  }
  // One of several runs: the machine has other work, and the first run compiles.
  const leastCpuMs = (work: () => void) => Math.min(...Array.from({ length: 4 }, () => cpuMsOf(work)));
  const most = MOST_TIMES_PARSING * leastCpuMs(() => parse(HARMLESS));
  expect(leastCpuMs(() => verdictOn(attack))).toBeLessThanOrEqual(most);
});

test('without introspection no verdict suggests a name', () => {
  const suggestions = (attack: Attack, options: { introspection: boolean }) =>
    verdictOn(attack, options).filter(({ message }) => /did you mean/i.test(message));
  expect(ATTACKS.flatMap((attack) => suggestions(attack, { introspection: false }))).toEqual([]);
  expect(ATTACKS.some((attack) => suggestions(attack, { introspection: true }).length > 0)).toBe(true);
});
