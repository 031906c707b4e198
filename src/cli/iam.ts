import { Command, Option } from 'commander';

import { badInput } from '../errors.js';
import { EXIT_CODES } from './options.js';

const arnOf = (table: string) => `arn:aws:dynamodb:*:*:table/${table}`;
const READ_STREAM = ['DescribeStream', 'GetShardIterator', 'GetRecords'];

const allow = (actions: readonly string[], ...tables: readonly string[]) => ({
  Effect: 'Allow',
  Action: actions.map((action) => `dynamodb:${action}`),
  Resource: tables.map(arnOf),
});

const WRITE = ['PutItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLInsert', 'PartiQLUpdate'];

/** For each role, the statements of its policy. */
const ROLES = {
  /** A server that follows a table of others. It only reads. */
  source: (table: string) => [
    allow(['DescribeTable', 'Scan', 'Query', 'BatchGetItem'], table),
    allow(READ_STREAM, `${table}/stream/*`),
  ],
  /** The AWS Lambda that runs the consumer. */
  consumer: (table: string) => [
    allow(['DescribeTable', 'DescribeTimeToLive', 'Query'], table, `${table}-derived`, `${table}-readings-*`),
    allow(['GetItem', 'BatchGetItem', ...WRITE], `${table}-derived`),
    allow(READ_STREAM, `${table}/stream/*`, `${table}-readings-*/stream/*`),
  ],
} as const;

type Role = keyof typeof ROLES;

export function iamCommand(): Command {
  return new Command('iam')
    .description('Print the IAM policy of a role')
    .addOption(new Option('--role <role>', 'what the role does').choices(Object.keys(ROLES)).makeOptionMandatory())
    .requiredOption('--table <name>', 'the table that is followed, or CELLPORT_TABLE')
    .addHelpText('after', EXIT_CODES)
    .action(({ table, role }: { readonly table: string; readonly role: Role }) => {
      if (!/^[\w.-]{3,255}$/.test(table)) throw badInput('--table', table, 'the name of a DynamoDB table');
      console.log(JSON.stringify({ Version: '2012-10-17', Statement: ROLES[role](table) }, null, 2));
    });
}
