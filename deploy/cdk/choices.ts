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

/** A choice of the type of its default. Throws for what is not: `auth=yes` must not switch it off. */
function readChoice(name: string, given: unknown, fallback: Choices[keyof Choices]): string | number | boolean {
  const text = String(given);
  const refused = (allowed: string) => new Error(`${name} must be ${allowed}; got ${JSON.stringify(given)}`);
  if (typeof fallback === 'boolean') {
    if (text !== 'true' && text !== 'false') throw refused('true or false');
    return text === 'true';
  }
  if (typeof fallback === 'number') {
    if (!/^\d{1,9}$/.test(text)) throw refused('a whole number');
    return Number(text);
  }
  if (text === '') throw refused('a text, or left out');
  return text;
}

/** The choices in the context of an app, whose values are texts if they come from the command line. */
export function choicesOf(app: App): Choices {
  const own: Record<string, unknown> = {};
  const names = Object.keys(DEFAULTS);
  const context = app.node.getAllContext() as Readonly<Record<string, unknown>>;
  // Names of the CDK have other characters, too.
  const unknown = Object.keys(context).find(
    (name) => /^[a-z]+$/i.test(name) && name !== 'name' && !names.includes(name),
  );
  if (unknown !== undefined) throw new Error(`a choice must be one of name, ${names.join(', ')}; got ${unknown}`);
  for (const [name, fallback] of Object.entries(DEFAULTS)) {
    const given: unknown = app.node.tryGetContext(name);
    if (given !== undefined) own[name] = readChoice(name, given, fallback as Choices[keyof Choices]);
  }
  return choose(own);
}
