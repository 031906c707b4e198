import { CfnOutput, Duration, Fn, Stack, type App, type StackProps } from 'aws-cdk-lib';
import { HttpApi, type CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { OriginProtocolPolicy, type IOrigin } from 'aws-cdk-lib/aws-cloudfront';
import { FunctionUrlOrigin, HttpOrigin, VpcOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { HttpCodeTarget } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type { Role } from 'aws-cdk-lib/aws-iam';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';

import { acceptFindings } from './accepted.js';
import { choose, type Choices } from './choices.js';
import { addContainers } from './containers.js';
import { addDistribution } from './edge.js';
import { addConsumer, addHttpFunction } from './functions.js';
import { addTables } from './tables.js';
import { addAlarms, type Watched } from './watch.js';

/** What answers requests: by which URL, for CloudFront, with which role, and what is measured of it. */
interface Front extends Pick<Watched, 'requests' | 'failures' | 'latency' | 'throttles'> {
  readonly url: string;
  readonly origin: IOrigin;
  readonly made: { addEnvironment(name: string, value: string): unknown };
  readonly role: Role;
}

const MINUTE = { period: Duration.minutes(1) };

/** Cellport on AWS: its tables, what answers requests, what consumes the stream, CloudFront, alarms and a dashboard. */
export class CellportStack extends Stack {
  constructor(scope: App, id: string, own: Partial<Choices> = {}, props: StackProps = {}) {
    super(scope, id, props);
    const choices = choose(own);
    acceptFindings(this, choices.table);
    const { entities, derived } = addTables(this, choices);
    const front = choices.server === 'fargate' ? this.#containers(choices) : this.#function(choices);
    const consumer = choices.consumer === 'lambda' ? addConsumer(this, entities, choices) : undefined;
    const distribution =
      choices.cloudfront && addDistribution(this, front.origin, choices.server !== 'fargate', choices);
    if (distribution && choices.purge) {
      const { made, role } = consumer ?? front;
      made.addEnvironment('CELLPORT_CDN', `cloudfront:${distribution.distributionId}`);
      distribution.grantCreateInvalidation(role);
    }
    addAlarms(
      this,
      {
        ...front,
        tables: [entities, derived],
        consumer: consumer && {
          age: consumer.made.metric('IteratorAge', { statistic: 'Maximum', ...MINUTE }),
          errors: consumer.made.metricErrors(MINUTE),
          log: consumer.logGroup,
        },
      },
      choices,
    );
    const url = distribution ? `https://${choices.domain ?? distribution.distributionDomainName}` : front.url;
    new CfnOutput(this, 'Url', { value: url });
    if (distribution) new CfnOutput(this, 'DistributionDomain', { value: distribution.distributionDomainName });
  }

  #function(choices: Choices): Front {
    const { made, role } = addHttpFunction(this, choices);
    const measured = {
      made,
      role,
      latency: ['p50', 'p99'].map((statistic) => made.metricDuration({ statistic, ...MINUTE })),
      throttles: [made.metricThrottles(MINUTE)],
    };
    if (choices.server === 'url') {
      const url = made.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
      const metric = (metricName: string) =>
        new Metric({
          namespace: 'AWS/Lambda',
          metricName,
          statistic: 'Sum',
          dimensionsMap: { FunctionName: made.functionName },
          ...MINUTE,
        });
      const counted = { requests: metric('UrlRequestCount'), failures: metric('Url5xxCount') };
      return { ...measured, ...counted, url: url.url, origin: new FunctionUrlOrigin(url) };
    }
    const api = new HttpApi(this, 'Api', { defaultIntegration: new HttpLambdaIntegration('ToHttp', made) });
    const stage = api.defaultStage?.node.defaultChild as CfnStage;
    stage.defaultRouteSettings = { throttlingBurstLimit: 1_000, throttlingRateLimit: 500 };
    const counted = { requests: api.metricCount(MINUTE), failures: api.metricServerError(MINUTE) };
    const host = Fn.select(2, Fn.split('/', api.apiEndpoint));
    return { ...measured, ...counted, url: api.apiEndpoint, origin: new HttpOrigin(host) };
  }

  #containers(choices: Choices): Front {
    const { service, made, role } = addContainers(this, choices);
    const { metrics } = service.loadBalancer;
    return {
      made,
      role,
      requests: metrics.requestCount(MINUTE),
      failures: metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, MINUTE),
      latency: ['p50', 'p99'].map((statistic) => metrics.targetResponseTime({ statistic, ...MINUTE })),
      throttles: [],
      url: `https://${choices.domain ?? ''}`,
      origin: VpcOrigin.withApplicationLoadBalancer(service.loadBalancer, {
        protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      }),
    };
  }
}
