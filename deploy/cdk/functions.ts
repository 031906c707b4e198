import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DockerImage, Duration } from 'aws-cdk-lib';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, CfnEventSourceMapping, Code, Function as Lambda, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

import { DIST, policyOf, type Role as CellportRole } from './cellport-cli.js';
import type { Choices } from './choices.js';

interface Wanted {
  readonly id: string;
  /** The file in dist/lambda. */
  readonly file: 'http' | 'stream';
  readonly role: CellportRole;
  readonly memoryMB: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
}

/** The files of a function: its own, and for HTTP the map. Nothing is built in a container. */
function codeOf(file: Wanted['file']): Code {
  return Code.fromAsset(join(DIST, 'lambda'), {
    exclude: ['**', `!${file}.mjs`],
    bundling: {
      image: DockerImage.fromRegistry('never-used'),
      local: {
        tryBundle(output) {
          cpSync(join(DIST, 'lambda', `${file}.mjs`), join(output, `${file}.mjs`));
          if (file === 'http') cpSync(join(DIST, 'page'), join(output, 'page'), { recursive: true });
          return true;
        },
      },
    },
  });
}

function addFunction(scope: Construct, wanted: Wanted, { table }: Choices) {
  const { id, file, role: named, memoryMB, timeout, environment } = wanted;
  const logGroup = new LogGroup(scope, `${id}Log`, { retention: RetentionDays.ONE_MONTH });
  const role = new Role(scope, `${id}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    inlinePolicies: { Cellport: PolicyDocument.fromJson(policyOf(named, table)) },
  });
  logGroup.grantWrite(role);
  const made = new Lambda(scope, id, {
    runtime: Runtime.NODEJS_22_X,
    architecture: Architecture.ARM_64,
    handler: `${file}.handler`,
    code: codeOf(file),
    memorySize: memoryMB,
    timeout,
    environment: { CELLPORT_TABLE: table, CELLPORT_LOG: 'info', ...environment },
    role: role.withoutPolicyUpdates(),
    logGroup,
  });
  return { made, role, logGroup };
}

/** The function that answers requests. */
export function addHttpFunction(scope: Construct, choices: Choices) {
  const { auth, readOnly, cloudfront, cacheSeconds, trustProxy = cloudfront ? '1' : 'off', redisUrl } = choices;
  const environment = {
    CELLPORT_AUTH: auth ? 'on' : 'off',
    CELLPORT_READ_ONLY: readOnly ? 'on' : 'off',
    CELLPORT_TRUST_PROXY: trustProxy,
    ...(cloudfront && { CELLPORT_CACHE_SECONDS: String(cacheSeconds) }),
    ...(redisUrl !== undefined && { CELLPORT_REDIS_URL: redisUrl }),
  };
  // A whole processor, as it takes seconds with a small part of one to begin.
  const wanted = { id: 'Http', file: 'http', role: 'http', memoryMB: 1769, timeout: Duration.seconds(30) } as const;
  return addFunction(scope, { ...wanted, environment }, choices);
}

/** The function that consumes the stream, called by its records and by a schedule: see docs/stream.md. */
export function addConsumer(scope: Construct, entities: CfnTable, choices: Choices) {
  const wanted = { id: 'Consumer', file: 'stream', role: 'consumer', memoryMB: 512 } as const;
  const added = addFunction(scope, { ...wanted, timeout: Duration.seconds(60), environment: {} }, choices);
  added.role.addToPolicy(
    // What AWS needs to call it.
    new PolicyStatement({ effect: Effect.ALLOW, actions: ['dynamodb:ListStreams'], resources: ['*'] }),
  );
  const mapping = new CfnEventSourceMapping(scope, 'Records', {
    functionName: added.made.functionName,
    eventSourceArn: entities.attrStreamArn,
    startingPosition: 'LATEST',
    batchSize: 1_000,
    maximumBatchingWindowInSeconds: 1,
    functionResponseTypes: ['ReportBatchItemFailures'],
  });
  mapping.node.addDependency(added.role);
  new Rule(scope, 'EachMinute', {
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new LambdaFunction(added.made, { retryAttempts: 0 })],
  });
  return added;
}
