import { Duration } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CacheHeaderBehavior,
  CachePolicy,
  CacheQueryStringBehavior,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginRequestPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
  type BehaviorOptions,
  type CfnDistribution,
  type IOrigin,
} from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';

import type { Choices } from './choices.js';

/** The paths of answers that say for how long they may be kept. */
const KEPT = ['/tiles/*', '/maps/*', '/ogc*', '/map/*'];

/** A function must be called by its own name, so this tells it the one by which a client called. */
const TELL_HOST = `function handler(event) {
  event.request.headers['x-forwarded-host'] = { value: event.request.headers.host.value };
  return event.request;
}`;

/**
 * CloudFront in front of a server. It keeps what the server lets caches keep: answers for those who send a credential are
 * apart, and `private`.
 */
export function addDistribution(
  scope: Construct,
  origin: IOrigin,
  isFunction: boolean,
  choices: Choices,
): Distribution {
  const { domain, cloudfrontCertificate } = choices;
  const kept = new CachePolicy(scope, 'Kept', {
    comment: 'What Cellport lets caches keep',
    minTtl: Duration.seconds(0),
    defaultTtl: Duration.seconds(0),
    maxTtl: Duration.days(1),
    queryStringBehavior: CacheQueryStringBehavior.all(),
    headerBehavior: CacheHeaderBehavior.allowList('Accept', 'Authorization', 'Origin', 'X-Api-Key'),
    enableAcceptEncodingGzip: true,
    enableAcceptEncodingBrotli: true,
  });
  const tellHost = new EdgeFunction(scope, 'TellHost', {
    code: FunctionCode.fromInline(TELL_HOST),
    runtime: FunctionRuntime.JS_2_0,
  });
  const behavior: BehaviorOptions = {
    origin,
    allowedMethods: AllowedMethods.ALLOW_ALL,
    viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
    cachePolicy: CachePolicy.CACHING_DISABLED,
    originRequestPolicy: isFunction
      ? OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER
      : OriginRequestPolicy.ALL_VIEWER,
    // Cellport compresses itself.
    compress: false,
    ...(isFunction && {
      functionAssociations: [{ function: tellHost, eventType: FunctionEventType.VIEWER_REQUEST }],
    }),
  };
  const distribution = new Distribution(scope, 'Distribution', {
    defaultBehavior: behavior,
    additionalBehaviors: Object.fromEntries(
      KEPT.map((path) => [
        path,
        { ...behavior, allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS, cachePolicy: kept },
      ]),
    ),
    // It would keep for 10 s that there is no such collection.
    errorResponses: [{ httpStatus: 404, ttl: Duration.seconds(0) }],
    httpVersion: HttpVersion.HTTP2_AND_3,
    minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    ...(domain !== undefined && {
      domainNames: [domain],
      certificate: Certificate.fromCertificateArn(scope, 'EdgeCertificate', cloudfrontCertificate ?? ''),
    }),
  });
  // Constructs have no property for it yet.
  const { node } = distribution;
  (node.defaultChild as CfnDistribution).addPropertyOverride(
    'DistributionConfig.CacheTagConfig.HeaderName',
    'Cache-Tag',
  );
  return distribution;
}
