import { Command, Option } from 'commander';

import { badInput } from '../errors.js';
import { readSettings } from './session.js';

const arnOf = (table: string) => `arn:aws:dynamodb:*:*:table/${table}`;

const allow = (actions: readonly string[], ...tables: readonly string[]) => ({
  Effect: 'Allow',
  Action: actions.map((action) => `dynamodb:${action}`),
  Resource: tables.map(arnOf),
});
const purge = (distribution: string) => ({
  Effect: 'Allow',
  Action: ['cloudfront:CreateInvalidation'],
  Resource: [`arn:aws:cloudfront::*:distribution/${distribution}`],
});
/** What has no resource of its own. */
const LIST_TABLES = { Effect: 'Allow', Action: ['dynamodb:ListTables'], Resource: ['*'] };

const READ = ['DescribeTable', 'DescribeTimeToLive', 'Query', 'GetItem', 'BatchGetItem'];
const READ_STREAM = ['DescribeStream', 'GetShardIterator', 'GetRecords'];
const WRITE = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLDelete'];
const DERIVE = ['PutItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLInsert', 'PartiQLUpdate'];
const RECORD = [
  'DescribeTable',
  'DescribeTimeToLive',
  'Query',
  'Scan',
  'BatchWriteItem',
  'PartiQLDelete',
  'CreateTable',
  'UpdateTimeToLive',
];

const serverOf = (table: string) => [
  allow([...READ, ...WRITE, 'Scan'], table),
  allow(['Query'], `${table}/index/*`),
  allow([...READ, ...DERIVE], `${table}-derived`),
  allow([...RECORD, 'UpdateTable', 'DeleteTable'], `${table}-readings-*`),
  allow(READ_STREAM, `${table}/stream/*`, `${table}-readings-*/stream/*`),
  LIST_TABLES,
];

/** For each role, the statements of its policy. test/cli/iam.engine.test.ts compares them with what is asked of DynamoDB. */
const ROLES = {
  /** A server over tables that exist. */
  server: serverOf,
  /** The AWS Lambda that answers requests. */
  http: (table: string) => [
    allow([...READ, ...WRITE], table),
    allow(['Query'], `${table}/index/*`),
    allow([...READ, 'PutItem', 'BatchWriteItem'], `${table}-derived`),
    allow(RECORD, `${table}-readings-*`),
  ],
  /** The AWS Lambda that runs the consumer. */
  consumer: (table: string) => [
    allow(['DescribeTable', 'DescribeTimeToLive', 'Query'], table, `${table}-derived`, `${table}-readings-*`),
    allow(['GetItem', 'BatchGetItem', ...DERIVE], `${table}-derived`),
    allow(READ_STREAM, `${table}/stream/*`, `${table}-readings-*/stream/*`),
  ],
  /** A server that follows a table of others. It only reads. */
  source: (table: string) => [
    allow(['DescribeTable', 'Scan', 'Query', 'BatchGetItem'], table),
    allow(READ_STREAM, `${table}/stream/*`),
  ],
  /** Those who use all commands: what a server does, tables, and reading the whole of them. */
  admin: (table: string) => [
    ...serverOf(table),
    allow(['CreateTable', 'UpdateTimeToLive', 'DeleteTable'], table, `${table}-derived`),
    allow(['Scan'], `${table}-derived`),
  ],
} as const;

interface Options {
  readonly role: keyof typeof ROLES;
  readonly table?: string;
  readonly cdn?: string;
}

/** Throws BAD_USER_INPUT for what cannot be the name of a table. */
export function checkTableName(table: string): void {
  if (!/^[\w.-]{3,255}$/.test(table)) throw badInput('--table', table, 'the name of a DynamoDB table');
}

export function iamCommand(): Command {
  return new Command('iam')
    .description('Print the IAM policy that a role needs. See docs/configuration.md')
    .addOption(new Option('--role <role>', 'what the role is for').choices(Object.keys(ROLES)).makeOptionMandatory())
    .option('--table <name>', 'name of the table, for `source` of the table to follow (default: CELLPORT_TABLE)')
    .option('--cdn <distribution>', 'ID of the CloudFront distribution in CELLPORT_CDN')
    .action(async ({ role, cdn, ...given }: Options) => {
      if (role === 'source' && given.table === undefined) throw badInput('--table', '', 'the table that is followed');
      const table = given.table ?? (await readSettings()).config.tables.entities;
      checkTableName(table);
      if (cdn !== undefined && !/^[A-Z0-9]+$/.test(cdn)) throw badInput('--cdn', cdn, 'the ID of a distribution');
      const Statement = [...ROLES[role](table), ...(cdn === undefined ? [] : [purge(cdn)])];
      console.log(JSON.stringify({ Version: '2012-10-17', Statement }, null, 2));
    });
}
