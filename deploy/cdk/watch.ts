import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  MathExpression,
  Metric,
  TreatMissingData,
  type IMetric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, MetricFilter, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';

import type { Choices } from './choices.js';

/** What can be measured of a stack. */
export interface Watched {
  readonly tables: readonly CfnTable[];
  readonly requests: IMetric;
  readonly failures: IMetric;
  readonly latency: readonly IMetric[];
  /** Only of functions. */
  readonly throttles: readonly IMetric[];
  /** Only of a function that consumes the stream. */
  readonly consumer?: { readonly age: IMetric; readonly errors: IMetric; readonly log: ILogGroup } | undefined;
}

const MINUTE = Duration.minutes(1);

function ofTables(tables: readonly CfnTable[], metricName: string, statistic = 'Sum'): Metric[] {
  return tables.map(
    ({ ref }) =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        statistic,
        period: MINUTE,
        dimensionsMap: { TableName: ref },
      }),
  );
}

/** Missing metrics count as 0, as AWS has none of what did not happen. */
function sumOf(metrics: readonly IMetric[], label: string): IMetric {
  const usingMetrics = Object.fromEntries(metrics.map((metric, at) => [`m${at}`, metric]));
  const expression = Object.keys(usingMetrics)
    .map((name) => `FILL(${name}, 0)`)
    .join(' + ');
  return new MathExpression({ expression, usingMetrics, label, period: MINUTE });
}

/** Records that could not be counted, which the consumer logs. */
function deadLettersIn(scope: Construct, logGroup: ILogGroup): IMetric {
  const filter = new MetricFilter(scope, 'DeadLetters', {
    logGroup,
    metricNamespace: 'Cellport',
    metricName: `${logGroup.node.path}/dead-letters`,
    filterPattern: FilterPattern.literal('{ $.deadLetters > 0 }'),
    metricValue: '$.deadLetters',
  });
  return filter.metric({ statistic: 'Sum', period: MINUTE });
}

/** Alarms, by e-mail if one is given, and a dashboard with what they are about. */
export function addAlarms(scope: Construct, watched: Watched, { email }: Choices): void {
  const { tables, requests, failures, latency, throttles, consumer } = watched;
  const topic = new Topic(scope, 'Alarms', { enforceSSL: true });
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  const alarm = (id: string, metric: IMetric, threshold: number, minutes: number, alarmDescription: string) => {
    const made = new Alarm(scope, id, {
      metric,
      threshold,
      evaluationPeriods: minutes,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription,
    });
    made.addAlarmAction(new SnsAction(topic));
    made.addOkAction(new SnsAction(topic));
  };
  const refused = ['ReadThrottleEvents', 'WriteThrottleEvents'].flatMap((name) => ofTables(tables, name));
  const throttled = sumOf([...refused, ...throttles], 'throttled by DynamoDB or Lambda');
  alarm('ManyFailures', failures, 5, 3, 'Requests fail with a status of 500 or above: see the log of the server');
  alarm('Throttled', throttled, 10, 3, 'DynamoDB or Lambda refuses requests: see docs/scaling.md');
  const deadLetters = consumer && deadLettersIn(scope, consumer.log);
  if (consumer && deadLetters) {
    alarm('StreamBehind', consumer.age, 60_000, 5, 'Counts and maps are a minute behind: see docs/stream.md');
    alarm('ConsumerFails', consumer.errors, 0, 5, 'The consumer fails: see its log, and docs/stream.md');
    alarm('RecordsNotCounted', deadLetters, 0, 1, 'Run `cellport dead-letters --stream`: see docs/stream.md');
  }
  const graphs: readonly (readonly [title: string, metrics: readonly IMetric[]])[] = [
    ['Requests', [requests, failures]],
    ['Time of a request', latency],
    ['Read units', ofTables(tables, 'ConsumedReadCapacityUnits')],
    ['Write units', ofTables(tables, 'ConsumedWriteCapacityUnits')],
    ['Refused', [throttled]],
    ...(consumer && deadLetters
      ? ([
          ['Age of records', [consumer.age]],
          ['Consumer', [consumer.errors, deadLetters]],
        ] as const)
      : []),
  ];
  new Dashboard(scope, 'Dashboard', {
    widgets: [graphs.map(([title, metrics]) => new GraphWidget({ title, left: [...metrics], width: 12 }))],
  });
}
