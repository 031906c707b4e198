import { Command, Option } from 'commander';

import { badInput } from '../errors.js';
import { EXIT_CODES } from './options.js';

/** The policy of a server that follows a table. It only reads. */
const sourcePolicy = (table: string) => {
  const arn = `arn:aws:dynamodb:*:*:table/${table}`;
  const allow = (actions: readonly string[], resource: string) => ({
    Effect: 'Allow',
    Action: actions.map((action) => `dynamodb:${action}`),
    Resource: resource,
  });
  return {
    Version: '2012-10-17',
    Statement: [
      allow(['DescribeTable', 'Scan', 'Query', 'BatchGetItem'], arn),
      allow(['DescribeStream', 'GetShardIterator', 'GetRecords'], `${arn}/stream/*`),
    ],
  };
};

export function iamCommand(): Command {
  return new Command('iam')
    .description('Print the IAM policy of a role')
    .addOption(new Option('--role <role>', 'what the role does').choices(['source']).makeOptionMandatory())
    .requiredOption('--table <name>', 'the table that is followed')
    .addHelpText('after', EXIT_CODES)
    .action(({ table }: { readonly table: string }) => {
      if (!/^[\w.-]{3,255}$/.test(table)) throw badInput('--table', table, 'the name of a DynamoDB table');
      console.log(JSON.stringify(sourcePolicy(table), null, 2));
    });
}
