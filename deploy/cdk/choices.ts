import type { App } from 'aws-cdk-lib';

/** What a stack may be, each by `--context name=value` or in cdk.json; README.md explains them. */
export interface Choices {
  readonly table: string;
  /** `url`: a Lambda with its own URL; `api`: behind an HTTP API; `fargate`: containers behind a load balancer. */
  readonly server: 'url' | 'api' | 'fargate';
  /** `lambda`, or `server` for containers that do it. */
  readonly consumer: 'lambda' | 'server';
  readonly cloudfront: boolean;
  /** For how long CloudFront may answer by itself, in seconds. */
  readonly cacheSeconds: number;
  /** Whether the consumer purges from CloudFront what changes, which AWS charges for: see docs/tiles.md. */
  readonly purge: boolean;
  /** In place of the proxies of the stack, for example CloudFront's networks: see docs/deploy.md. */
  readonly trustProxy: string | undefined;
  readonly auth: boolean;
  readonly readOnly: boolean;
  /** The most read units a second that a table, or an index of it, may cost; 0 for as many as DynamoDB gives. */
  readonly maxReadUnits: number;
  readonly maxWriteUnits: number;
  /** By which clients reach it, with the certificate of this name in the stack's region; needed by containers. */
  readonly domain: string | undefined;
  readonly certificate: string | undefined;
  /** The same in us-east-1, which CloudFront needs. */
  readonly cloudfrontCertificate: string | undefined;
  /** The image of containers; by default, it is built from Cellport's Dockerfile when the stack is deployed. */
  readonly image: string | undefined;
  readonly redisUrl: string | undefined;
  readonly maxTasks: number;
  /** Whom alarms tell. */
  readonly email: string | undefined;
}

const DEFAULTS: Choices = {
  table: 'cellport',
  server: 'url',
  consumer: 'lambda',
  cloudfront: true,
  cacheSeconds: 10,
  purge: false,
  trustProxy: undefined,
  auth: true,
  readOnly: false,
  maxReadUnits: 0,
  maxWriteUnits: 0,
  domain: undefined,
  certificate: undefined,
  cloudfrontCertificate: undefined,
  image: undefined,
  redisUrl: undefined,
  maxTasks: 2,
  email: undefined,
};

/** The default choices with others in place of them. Throws if they contradict each other. */
export function choose(own: Partial<Choices> = {}): Choices {
  const all = { ...DEFAULTS, ...own };
  const refuse = (isWrong: boolean, why: string) => {
    if (isWrong) throw new Error(why);
  };
  const isFargate = all.server === 'fargate';
  refuse(!['url', 'api', 'fargate'].includes(all.server), `server must be url, api or fargate; got ${all.server}`);
  refuse(!['lambda', 'server'].includes(all.consumer), `consumer must be lambda or server; got ${all.consumer}`);
  refuse(
    !isFargate && all.consumer === 'server',
    'a Lambda that answers requests is no consumer: choose consumer=lambda',
  );
  refuse(
    isFargate && (all.domain === undefined || all.certificate === undefined),
    'containers need domain and certificate: credentials must travel over TLS only',
  );
  refuse(
    all.cloudfront && all.domain !== undefined && all.cloudfrontCertificate === undefined,
    'CloudFront needs cloudfrontCertificate, of the domain in us-east-1',
  );
  refuse(all.purge && !all.cloudfront, 'purge needs cloudfront');
  refuse(
    isFargate && all.maxTasks > 2 && all.redisUrl === undefined,
    'more than two containers need redisUrl: a stream has two readers',
  );
  return all;
}

/** The choices in the context of an app, whose values are texts if they come from the command line. */
export function choicesOf(app: App): Choices {
  const own: Record<string, unknown> = {};
  for (const [name, fallback] of Object.entries(DEFAULTS)) {
    const given = app.node.tryGetContext(name) as string | number | boolean | undefined;
    if (given === undefined) continue;
    const isNumber = typeof fallback === 'number';
    own[name] = typeof fallback === 'boolean' ? String(given) === 'true' : isNumber ? Number(given) : String(given);
  }
  return choose(own);
}
