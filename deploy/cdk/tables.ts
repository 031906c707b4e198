import { RemovalPolicy } from 'aws-cdk-lib';
import { CfnTable, type CfnTableProps } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';

import { tablesOf, type Table } from './cellport-cli.js';
import type { Choices } from './choices.js';

/** CloudFormation's names of the same things begin in lower case here. */
function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name.charAt(0).toLowerCase() + name.slice(1), inCamelCase(each)]),
  );
}

function addTable(scope: Construct, id: string, { request, ttl }: Table, choices: Choices): CfnTable {
  const { maxReadUnits, maxWriteUnits } = choices;
  const { StreamEnabled: _, ...stream } = (request.StreamSpecification ?? {}) as { StreamEnabled?: boolean };
  const wanted = inCamelCase({ ...request, StreamSpecification: stream }) as CfnTableProps;
  const onDemandThroughput = {
    ...(maxReadUnits > 0 && { maxReadRequestUnits: maxReadUnits }),
    ...(maxWriteUnits > 0 && { maxWriteRequestUnits: maxWriteUnits }),
  };
  const limited = Object.keys(onDemandThroughput).length > 0 && { onDemandThroughput };
  const indexes = wanted.globalSecondaryIndexes as readonly CfnTable.GlobalSecondaryIndexProperty[] | undefined;
  const table = new CfnTable(scope, id, {
    ...wanted,
    ...(request.StreamSpecification === undefined && { streamSpecification: undefined }),
    ...(indexes && { globalSecondaryIndexes: indexes.map((index) => ({ ...index, ...limited })) }),
    ...limited,
    timeToLiveSpecification: { attributeName: ttl, enabled: true },
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtectionEnabled: true,
  });
  // What they have outlives the stack.
  table.applyRemovalPolicy(RemovalPolicy.RETAIN);
  return table;
}

/** Both tables, as `cellport table create` would make them, and protected. */
export function addTables(scope: Construct, choices: Choices) {
  const [entities, derived] = tablesOf(choices.table);
  return {
    entities: addTable(scope, 'Entities', entities, choices),
    derived: addTable(scope, 'Derived', derived, choices),
  };
}
