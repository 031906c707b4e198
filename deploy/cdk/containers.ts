import { fileURLToPath } from 'node:url';
import { Duration } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { GatewayVpcEndpointAwsService, Vpc } from 'aws-cdk-lib/aws-ec2';
import {
  Cluster,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  LogDrivers,
  OperatingSystemFamily,
  type CfnTaskDefinition,
} from 'aws-cdk-lib/aws-ecs';
import { ApplicationLoadBalancedFargateService } from 'aws-cdk-lib/aws-ecs-patterns';
import { ApplicationProtocol, SslPolicy } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

import { policyOf } from './cellport-cli.js';
import type { Choices } from './choices.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** After a signal: CELLPORT_DRAIN_MS, CELLPORT_DEADLINE_MS and some seconds. */
const STOPS_WITHIN = Duration.seconds(20);

function environmentOf(choices: Choices): Record<string, string> {
  const { table, auth, readOnly, consumer, cloudfront, cacheSeconds, domain = '', redisUrl } = choices;
  return {
    CELLPORT_TABLE: table,
    CELLPORT_LOG: 'info',
    CELLPORT_AUTH: auth ? 'on' : 'off',
    CELLPORT_READ_ONLY: readOnly ? 'on' : 'off',
    CELLPORT_CONSUMER: consumer === 'server' ? 'on' : 'off',
    CELLPORT_ALLOWED_HOSTS: domain,
    // The load balancer, and CloudFront before it: nobody else reaches it then.
    CELLPORT_TRUST_PROXY: choices.trustProxy ?? (cloudfront ? '2' : '1'),
    ...(cloudfront && { CELLPORT_CACHE_SECONDS: String(cacheSeconds) }),
    ...(redisUrl !== undefined && { CELLPORT_REDIS_URL: redisUrl }),
  };
}

/** Containers behind a load balancer, which only CloudFront reaches if there is one. */
export function addContainers(scope: Construct, choices: Choices) {
  const { table, image, domain = '', certificate = '', cloudfront, maxTasks } = choices;
  const vpc = new Vpc(scope, 'Network', { maxAzs: 2, natGateways: 1 });
  vpc.addGatewayEndpoint('DynamoDB', { service: GatewayVpcEndpointAwsService.DYNAMODB });
  vpc.addFlowLog('Flows');
  const taskRole = new Role(scope, 'ServerRole', {
    assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com'),
    inlinePolicies: { Cellport: PolicyDocument.fromJson(policyOf('server', table)) },
  });
  const logGroup = new LogGroup(scope, 'ServerLog', { retention: RetentionDays.ONE_MONTH });
  const service = new ApplicationLoadBalancedFargateService(scope, 'Server', {
    cluster: new Cluster(scope, 'Cluster', { vpc, containerInsightsV2: ContainerInsights.ENABLED }),
    // One worker, which is what the image runs.
    cpu: 1_024,
    memoryLimitMiB: 2_048,
    runtimePlatform: { cpuArchitecture: CpuArchitecture.X86_64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    desiredCount: Math.min(2, maxTasks),
    minHealthyPercent: 100,
    circuitBreaker: { rollback: true },
    publicLoadBalancer: !cloudfront,
    protocol: ApplicationProtocol.HTTPS,
    sslPolicy: SslPolicy.RECOMMENDED_TLS,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificate),
    redirectHTTP: !cloudfront,
    openListener: !cloudfront,
    taskImageOptions: {
      image: image === undefined ? ContainerImage.fromAsset(ROOT) : ContainerImage.fromRegistry(image),
      containerPort: 4_000,
      environment: environmentOf({ ...choices, domain }),
      taskRole: taskRole.withoutPolicyUpdates(),
      logDriver: LogDrivers.awsLogs({ streamPrefix: 'cellport', logGroup }),
    },
  });
  const { defaultContainer, node } = service.taskDefinition;
  if (defaultContainer === undefined) throw new Error(`${node.path} has no container`);
  const definition = service.taskDefinition.node.defaultChild as CfnTaskDefinition;
  definition.addPropertyOverride('ContainerDefinitions.0.ReadonlyRootFilesystem', true);
  definition.addPropertyOverride('ContainerDefinitions.0.StopTimeout', STOPS_WITHIN.toSeconds());
  service.targetGroup.configureHealthCheck({
    path: '/readyz',
    interval: Duration.seconds(10),
    healthyThresholdCount: 2,
  });
  service.targetGroup.setAttribute('deregistration_delay.timeout_seconds', '5');
  service.loadBalancer.setAttribute('routing.http.drop_invalid_header_fields.enabled', 'true');
  const scaling = service.service.autoScaleTaskCount({ minCapacity: Math.min(2, maxTasks), maxCapacity: maxTasks });
  scaling.scaleOnCpuUtilization('Busy', { targetUtilizationPercent: 60 });
  return { service, made: defaultContainer, role: taskRole, logGroup, vpc };
}
