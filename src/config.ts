import { resolve } from 'node:path';

import { CellportError } from './errors.js';
import type { LogLevel } from './log.js';
import { isLoopback } from './loopback.js';
import { DEFAULT_SEARCH_MB, type Limits } from './model/limits.js';
import { limitsOf, S3_PLACE, variables, type Settings } from './settings.js';

/** All settings of the process, read once. docs/configuration.md says when to change one. */
export interface Config {
  /** The entity table, and the derived table that the stream consumer writes. */
  readonly tables: { readonly entities: string; readonly derived: string };
  readonly keyStyle: 'readable' | 'compact';
  /** Absolute path; holds the embedded engine's data and the state of interrupted imports. */
  readonly dataDir: string;
  readonly database: DatabaseConfig;
  /** For geometry too large for the table; undefined if not configured and the database is not embedded. */
  readonly objects: ObjectsConfig | undefined;
  readonly http: HttpConfig;
  /** Whether to refuse every mutation. */
  readonly readOnly: boolean;
  /** Whether the server asks who its clients are; undefined if nothing is said about that. */
  readonly auth: boolean | undefined;
  /** The credential with which `cellport mcp` asks. */
  readonly key: string | undefined;
  /** Where it is noted who has changed what; undefined if nothing is said about that: nowhere by servers. */
  readonly audit: 'log' | 'table' | 'off' | undefined;
  /** Whether operations beyond a budget are refused, or only reported. */
  readonly budgets: 'enforce' | 'measure';
  /** Whether this process may run the stream consumer; false if an AWS Lambda does. */
  readonly consumer: boolean;
  /** The number of processes that answer requests; undefined for the default of `cellport serve`. */
  readonly workers: number | undefined;
  /** Redis through which servers share changes; undefined if each server reads the stream itself. */
  readonly redisUrl: string | undefined;
  /** Memory for all caches in bytes, 0 for none. */
  readonly cacheBytes: number;
  /** Write units a second from which a server spreads a prefix; 0 for never. With the embedded engine, it never does. */
  readonly spreadWcu: number;
  /** Disk space for the search index in bytes; 0 for no search. */
  readonly searchBytes: number;
  /** OpenSearch, in place of an index of each server; undefined if it is not used. */
  readonly openSearchUrl: string | undefined;
  readonly limits: Limits;
  /** Whether to compile repeated queries. */
  readonly graphqlJit: boolean;
  /** Whether clients may query the schema. */
  readonly introspection: boolean;
  /** Whether the schema is a subgraph of Federation 2. */
  readonly federation: boolean;
  /** Whether only documents of the list are executed. */
  readonly trustedDocuments: boolean;
  /** Seconds for which caches may keep answers to queries by GET; 0 for not at all. */
  readonly cacheSeconds: number;
  /** The CloudFront distribution from which changes are purged; undefined for none. */
  readonly cdn: { readonly distribution: string; readonly endpoint: string | undefined } | undefined;
  readonly logLevel: LogLevel;
  /** Variables that begin with CELLPORT_ but are not settings: most likely typos. */
  readonly unknown: readonly string[];
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  /** Where metrics and hot keys are shown; undefined if at `port`, too. */
  readonly admin: { readonly host: string; readonly port: number } | undefined;
  /** Host names by which clients may reach the server, besides those of `host`; `*` for any. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Whether clients may ask what a request cost and read. */
  readonly explain: boolean;
  readonly graphiql: boolean;
  /** The number of proxies in front of this server, or their addresses and networks. */
  readonly trustedProxies: number | readonly string[];
  /** A base map for the map page: a MapLibre style or a PMTiles file; undefined for the built-in one. */
  readonly styleUrl: string | undefined;
  /** Origins other than that of `styleUrl` from which it loads tiles, fonts and icons. */
  readonly styleOrigins: readonly string[];
  /** How long to answer on after a signal to stop, while /readyz says no. */
  readonly drainMs: number;
}

/** `embedded`: a DynamoDB Local that we start. `configured`: from the AWS variables; the SDK resolves undefined values. */
export type DatabaseConfig =
  | { readonly kind: 'embedded' }
  | {
      readonly kind: 'configured';
      readonly endpoint: string | undefined;
      readonly streamsEndpoint: string | undefined;
      readonly region: string | undefined;
    };

/** An absolute path, or a bucket and a prefix of object names; the SDK resolves undefined values. */
export type ObjectsConfig =
  | { readonly kind: 'folder'; readonly folder: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      readonly prefix: string;
      readonly endpoint: string | undefined;
      readonly region: string | undefined;
    };

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that are set; an empty value counts as unset (`PORT= npm start`). */
function given(env: Environment): Record<string, string> {
  const known: Record<string, string> = {};
  for (const name of Object.keys(variables.shape)) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== '') known[name] = value;
  }
  return known;
}

const SHOWN = 60;

function shown(value: string): string {
  return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
}

/** The region to sign with: services other than AWS accept any, but the SDK requires one. */
function regionOf(values: Settings, endpoint: string | undefined): string | undefined {
  return values.AWS_REGION ?? values.AWS_DEFAULT_REGION ?? (endpoint === undefined ? undefined : 'us-east-1');
}

/** See `Config.database`. A region or profile alone means AWS, except for a demo. */
function databaseOf(values: Settings, demo: boolean): DatabaseConfig {
  const endpoint = values.AWS_ENDPOINT_URL_DYNAMODB ?? values.AWS_ENDPOINT_URL;
  // A region or profile in the shell must not send demo data to an AWS account: a demo needs an explicit setting.
  const inProfile = !demo && (regionOf(values, undefined) ?? values.AWS_PROFILE) !== undefined;
  if (values.CELLPORT_ENGINE === 'embedded') return { kind: 'embedded' };
  if (values.CELLPORT_ENGINE !== 'aws' && endpoint === undefined && !inProfile) return { kind: 'embedded' };
  return {
    kind: 'configured',
    endpoint,
    streamsEndpoint: values.AWS_ENDPOINT_URL_DYNAMODB_STREAMS ?? endpoint,
    region: regionOf(values, endpoint),
  };
}

/** See `Config.objects`. With the embedded engine, the default is a folder next to its data. */
function objectsOf(values: Settings, database: DatabaseConfig): ObjectsConfig | undefined {
  const place = values.CELLPORT_OBJECTS;
  const [, bucket, prefix = ''] = S3_PLACE.exec(place ?? '') ?? [];
  if (bucket !== undefined) {
    const endpoint = values.AWS_ENDPOINT_URL_S3 ?? values.AWS_ENDPOINT_URL;
    return { kind: 's3', bucket, prefix, endpoint, region: regionOf(values, endpoint) };
  }
  if (place !== undefined) return { kind: 'folder', folder: resolve(place) };
  return database.kind === 'embedded'
    ? { kind: 'folder', folder: resolve(values.CELLPORT_DATA_DIR, 'objects') }
    : undefined;
}

/** With the embedded engine, search is on. To build its index takes a scan of the table, which AWS charges for. */
function searchMegabytes({ CELLPORT_SEARCH_MB: given }: Settings, { kind }: DatabaseConfig): number {
  return given ?? (kind === 'embedded' ? DEFAULT_SEARCH_MB : 0);
}

/**
 * The configuration from the environment. `demo`: whether demo data will be loaded; `own`: variables that replace those of
 * the environment. Throws one BAD_USER_INPUT with a line
 * for each invalid variable: its name, what is allowed and its value.
 */
export function readConfig(
  { demo = false, own = {} }: { readonly demo?: boolean; readonly own?: Environment } = {},
  outer: Environment = process.env,
): Config {
  const env = { ...outer, ...own };
  const input = given(env);
  const parsed = variables.safeParse(input);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0]);
      // The URL may contain a password.
      if (name === 'CELLPORT_REDIS_URL' || name === 'CELLPORT_OPENSEARCH_URL') return `${name} ${issue.message}`;
      return `${name} ${issue.message}; got ${shown(input[name] ?? '')}`;
    });
    throw new CellportError('BAD_USER_INPUT', faults.join('\n'), { faults });
  }
  const values = parsed.data;
  const database = databaseOf(values, demo);
  const isLocal = isLoopback(values.HOST);
  const { CELLPORT_ADMIN_PORT: adminPort } = values;
  const auth = values.CELLPORT_AUTH && ['on', '1'].includes(values.CELLPORT_AUTH);
  return {
    tables: { entities: values.CELLPORT_TABLE, derived: `${values.CELLPORT_TABLE}-derived` },
    keyStyle: values.CELLPORT_KEY_STYLE,
    dataDir: resolve(values.CELLPORT_DATA_DIR),
    database,
    objects: objectsOf(values, database),
    http: {
      host: values.HOST,
      port: values.PORT,
      admin: adminPort === undefined ? undefined : { host: values.CELLPORT_ADMIN_HOST ?? values.HOST, port: adminPort },
      allowedHosts: values.CELLPORT_ALLOWED_HOSTS,
      allowedOrigins: values.CELLPORT_ALLOWED_ORIGINS,
      explain: values.CELLPORT_EXPLAIN ?? isLocal,
      graphiql: values.CELLPORT_GRAPHIQL ?? isLocal,
      trustedProxies: values.CELLPORT_TRUST_PROXY,
      styleUrl: values.CELLPORT_STYLE_URL,
      styleOrigins: values.CELLPORT_STYLE_ORIGINS,
      drainMs: values.CELLPORT_DRAIN_MS,
    },
    readOnly: values.CELLPORT_READ_ONLY,
    auth,
    key: values.CELLPORT_KEY,
    audit: values.CELLPORT_AUDIT ?? (auth === true ? 'log' : undefined),
    budgets: values.CELLPORT_BUDGETS,
    consumer: values.CELLPORT_CONSUMER,
    workers: values.CELLPORT_WORKERS,
    redisUrl: values.CELLPORT_REDIS_URL,
    cacheBytes: values.CELLPORT_CACHE_MB * 1024 * 1024,
    spreadWcu: values.CELLPORT_SPREAD_WCU,
    searchBytes: searchMegabytes(values, database) * 1024 * 1024,
    openSearchUrl: values.CELLPORT_OPENSEARCH_URL,
    limits: limitsOf(values),
    graphqlJit: values.CELLPORT_GRAPHQL_JIT,
    introspection: values.CELLPORT_INTROSPECTION ?? isLocal,
    federation: values.CELLPORT_FEDERATION,
    trustedDocuments: values.CELLPORT_DOCUMENTS === 'trusted',
    cacheSeconds: values.CELLPORT_CACHE_SECONDS,
    cdn:
      values.CELLPORT_CDN === undefined
        ? undefined
        : { distribution: values.CELLPORT_CDN, endpoint: values.AWS_ENDPOINT_URL_CLOUDFRONT },
    logLevel: values.CELLPORT_LOG,
    unknown: Object.keys(env).filter((name) => name.startsWith('CELLPORT_') && !Object.hasOwn(variables.shape, name)),
  };
}

/** Whether a variable is no setting, so that it would be ignored; those of the environment may be passed on. */
export const isUnknown = (name: string, value: unknown, outer: Environment = process.env): boolean =>
  !Object.hasOwn(variables.shape, name) && value !== outer[name];

/**
 * Turns off the AWS SDK's warning on Node 20 that versions from January 2027 will need Node 22: the SDK's version is
 * pinned. Call before the SDK is loaded.
 */
export function silenceSdkAdvice(): void {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
}
