import { resolve } from 'node:path';
import { z } from 'zod';
import { CellportError } from './errors.js';
import { LOG_LEVELS, type LogLevel } from './log.js';
import { DEFAULT_CACHE_MB, DEFAULT_LIMITS, DEFAULT_SEARCH_MB, type Limits } from './model/limits.js';

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
  /** Whether this process may run the stream consumer; false if an AWS Lambda does. */
  readonly consumer: boolean;
  /** Redis through which servers share changes; undefined if each server reads the stream itself. */
  readonly redisUrl: string | undefined;
  /** Memory for all caches in bytes, 0 for none. */
  readonly cacheBytes: number;
  /** Disk space for the search index in bytes; 0 for no search. */
  readonly searchBytes: number;
  /** OpenSearch, in place of an index of each server; undefined if it is not used. */
  readonly openSearchUrl: string | undefined;
  readonly limits: Limits;
  /** Whether to compile repeated queries. */
  readonly graphqlJit: boolean;
  /** Whether clients may query the schema. */
  readonly introspection: boolean;
  readonly logLevel: LogLevel;
  /** Variables that begin with CELLPORT_ but are not settings: most likely typos. */
  readonly unknown: readonly string[];
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  /** Host names by which clients may reach the server, besides those of `host`; `*` for any. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Whether clients may ask what a request cost and read. */
  readonly explain: boolean;
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

/** Digits only: `1e3`, `0x10` and `12px` are refused. */
function digits(from: number, to: number) {
  const wanted = `must be a whole number from ${from} to ${to}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, wanted)
    .transform(Number)
    .refine((value) => value >= from && value <= to, wanted);
}

const wholeNumber = (from: number, to: number, fallback: number) => digits(from, to).default(fallback);

const url = z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' }).optional();
const redisUrl = z
  .url({ protocol: /^rediss?$/, error: 'must be a URL that begins with redis:// or rediss://' })
  .optional();
const text = z.string().optional();
const onOrOff = (fallback: 'on' | 'off') =>
  z
    .enum(['on', 'off', '1', '0'], 'must be on or off')
    .default(fallback)
    .transform((value) => value === 'on' || value === '1');
const S3_PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w.-]+(?:\/[\w.-]+)*)?\/?)?$/;
const objects = z
  .string()
  .refine(
    (value) => !/^[a-z][a-z0-9+.-]*:/i.test(value) || S3_PLACE.test(value),
    'must be a folder, or s3://bucket or s3://bucket/prefix',
  )
  .optional();

/** An origin, or `*` for any. */
const isOrigin = (text: string) =>
  text === '*' || (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text);

/** Origins as browsers send them, without a path: `https://maps.example.org`. */
const origins = z
  .string()
  .transform((list) => list.split(',').map((origin) => origin.trim()))
  .refine(
    (list) => list.every(isOrigin),
    'must be `*`, or a comma-separated list of origins such as https://maps.example.org, without a path',
  )
  .default([]);

/** A host name or address without a port, `.` and a domain for all names in it, or `*` for any. */
function isHost(text: string): boolean {
  const name = text.replace(/^\./, '');
  return (
    text === '*' ||
    (!name.includes('*') && URL.canParse(`http://${name}/`) && new URL(`http://${name}/`).hostname === name)
  );
}

const hosts = z
  .string()
  .transform((list) => list.split(',').map((host) => host.trim().toLowerCase()))
  .refine(
    (list) => list.every(isHost),
    'must be `*`, or a comma-separated list of host names such as maps.example.org, without a port',
  )
  .default([]);

const variables = z.object({
  CELLPORT_TABLE: z
    .string()
    // DynamoDB allows 255; the derived table adds its suffix.
    .regex(/^[A-Za-z0-9_.-]{3,240}$/, 'must be 3 to 240 letters, digits, `_`, `-` or `.`')
    .default('cellport'),
  CELLPORT_KEY_STYLE: z.enum(['readable', 'compact'], 'must be readable or compact').default('readable'),
  CELLPORT_DATA_DIR: z.string().default('.cellport'),
  CELLPORT_OBJECTS: objects,
  CELLPORT_ENGINE: z.enum(['embedded', 'aws'], 'must be embedded or aws').optional(),
  CELLPORT_CACHE_MB: wholeNumber(0, 1_000_000, DEFAULT_CACHE_MB),
  CELLPORT_SEARCH_MB: digits(0, 1_000_000).optional(),
  CELLPORT_OPENSEARCH_URL: url,
  CELLPORT_MAX_FIRST: wholeNumber(1, 100_000, DEFAULT_LIMITS.maxFirst),
  CELLPORT_MAX_DEPTH: wholeNumber(3, 100, DEFAULT_LIMITS.maxDepth),
  CELLPORT_MAX_ALIASES: wholeNumber(0, 100_000, DEFAULT_LIMITS.maxAliases),
  CELLPORT_MAX_FIELDS: wholeNumber(10, 1_000_000, DEFAULT_LIMITS.maxFields),
  CELLPORT_MAX_TOKENS: wholeNumber(100, 1_000_000, DEFAULT_LIMITS.maxTokens),
  CELLPORT_MAX_NODES: wholeNumber(100, 10_000_000, DEFAULT_LIMITS.maxNodes),
  CELLPORT_MAX_BODY_BYTES: wholeNumber(1024, 100_000_000, DEFAULT_LIMITS.maxBodyBytes),
  CELLPORT_MAX_DOCUMENT_BYTES: wholeNumber(1024, 10_000_000, DEFAULT_LIMITS.maxDocumentBytes),
  CELLPORT_MAX_ANSWER_BYTES: wholeNumber(100_000, 400_000_000, DEFAULT_LIMITS.maxAnswerBytes),
  // At least the maximum number of write shards of a collection: each one is queried.
  CELLPORT_MAX_RANGES: wholeNumber(32, 10_000, DEFAULT_LIMITS.rangesPerPage),
  CELLPORT_MAX_ITEMS: wholeNumber(100, 10_000_000, DEFAULT_LIMITS.itemsPerField),
  CELLPORT_INLINE_GEOMETRY_BYTES: wholeNumber(0, 300_000, DEFAULT_LIMITS.inlineGeometryBytes),
  CELLPORT_MAX_READING_QUERIES: wholeNumber(1, 1_000_000, DEFAULT_LIMITS.readingQueries),
  CELLPORT_MAX_SUBSCRIPTIONS: wholeNumber(0, 1_000_000, DEFAULT_LIMITS.subscriptions),
  CELLPORT_MAX_SUBSCRIPTIONS_PER_CONNECTION: wholeNumber(1, 100_000, DEFAULT_LIMITS.subscriptionsPerConnection),
  CELLPORT_DEADLINE_MS: wholeNumber(100, 600_000, DEFAULT_LIMITS.deadlineMs),
  CELLPORT_GRAPHQL_JIT: onOrOff('on'),
  CELLPORT_INTROSPECTION: onOrOff('on'),
  CELLPORT_EXPLAIN: onOrOff('on'),
  CELLPORT_READ_ONLY: onOrOff('off'),
  CELLPORT_CONSUMER: onOrOff('on'),
  CELLPORT_REDIS_URL: redisUrl,
  CELLPORT_LOG: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('warn'),
  CELLPORT_DRAIN_MS: wholeNumber(0, 600_000, 0),
  PORT: wholeNumber(0, 65_535, 4000),
  HOST: z.string().default('127.0.0.1'),
  CELLPORT_ALLOWED_HOSTS: hosts,
  CELLPORT_ALLOWED_ORIGINS: origins,
  CELLPORT_STYLE_URL: url,
  CELLPORT_STYLE_ORIGINS: origins,
  AWS_ENDPOINT_URL_DYNAMODB: url,
  AWS_ENDPOINT_URL_DYNAMODB_STREAMS: url,
  AWS_ENDPOINT_URL_S3: url,
  AWS_ENDPOINT_URL: url,
  AWS_REGION: text,
  AWS_DEFAULT_REGION: text,
  AWS_PROFILE: text,
});

/** The variables above that are set; an empty value counts as unset (`PORT= npm start`). */
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
function regionOf(values: z.infer<typeof variables>, endpoint: string | undefined): string | undefined {
  return values.AWS_REGION ?? values.AWS_DEFAULT_REGION ?? (endpoint === undefined ? undefined : 'us-east-1');
}

/** See `Config.database`. A region or profile alone means AWS, except for a demo. */
function databaseOf(values: z.infer<typeof variables>, demo: boolean): DatabaseConfig {
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
function objectsOf(values: z.infer<typeof variables>, database: DatabaseConfig): ObjectsConfig | undefined {
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
function searchMegabytes({ CELLPORT_SEARCH_MB: given }: z.infer<typeof variables>, { kind }: DatabaseConfig): number {
  return given ?? (kind === 'embedded' ? DEFAULT_SEARCH_MB : 0);
}

/**
 * The configuration from the environment. `demo`: whether demo data will be loaded. Throws one BAD_USER_INPUT with a line
 * for each invalid variable: its name, what is allowed and its value.
 */
export function readConfig({ demo = false }: { readonly demo?: boolean } = {}, env: Environment = process.env): Config {
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
  return {
    tables: { entities: values.CELLPORT_TABLE, derived: `${values.CELLPORT_TABLE}-derived` },
    keyStyle: values.CELLPORT_KEY_STYLE,
    dataDir: resolve(values.CELLPORT_DATA_DIR),
    database,
    objects: objectsOf(values, database),
    http: {
      host: values.HOST,
      port: values.PORT,
      allowedHosts: values.CELLPORT_ALLOWED_HOSTS,
      allowedOrigins: values.CELLPORT_ALLOWED_ORIGINS,
      explain: values.CELLPORT_EXPLAIN,
      styleUrl: values.CELLPORT_STYLE_URL,
      styleOrigins: values.CELLPORT_STYLE_ORIGINS,
      drainMs: values.CELLPORT_DRAIN_MS,
    },
    readOnly: values.CELLPORT_READ_ONLY,
    consumer: values.CELLPORT_CONSUMER,
    redisUrl: values.CELLPORT_REDIS_URL,
    cacheBytes: values.CELLPORT_CACHE_MB * 1024 * 1024,
    searchBytes: searchMegabytes(values, database) * 1024 * 1024,
    openSearchUrl: values.CELLPORT_OPENSEARCH_URL,
    limits: {
      maxFirst: values.CELLPORT_MAX_FIRST,
      maxDepth: values.CELLPORT_MAX_DEPTH,
      maxAliases: values.CELLPORT_MAX_ALIASES,
      maxFields: values.CELLPORT_MAX_FIELDS,
      maxTokens: values.CELLPORT_MAX_TOKENS,
      maxNodes: values.CELLPORT_MAX_NODES,
      maxBodyBytes: values.CELLPORT_MAX_BODY_BYTES,
      maxDocumentBytes: values.CELLPORT_MAX_DOCUMENT_BYTES,
      maxAnswerBytes: values.CELLPORT_MAX_ANSWER_BYTES,
      deadlineMs: values.CELLPORT_DEADLINE_MS,
      rangesPerPage: values.CELLPORT_MAX_RANGES,
      itemsPerField: values.CELLPORT_MAX_ITEMS,
      inlineGeometryBytes: values.CELLPORT_INLINE_GEOMETRY_BYTES,
      readingQueries: values.CELLPORT_MAX_READING_QUERIES,
      subscriptions: values.CELLPORT_MAX_SUBSCRIPTIONS,
      subscriptionsPerConnection: values.CELLPORT_MAX_SUBSCRIPTIONS_PER_CONNECTION,
    },
    graphqlJit: values.CELLPORT_GRAPHQL_JIT,
    introspection: values.CELLPORT_INTROSPECTION,
    logLevel: values.CELLPORT_LOG,
    unknown: Object.keys(env).filter((name) => name.startsWith('CELLPORT_') && !Object.hasOwn(variables.shape, name)),
  };
}

/**
 * Turns off the AWS SDK's warning on Node 20 that versions from January 2027 will need Node 22: the SDK's version is
 * pinned. Call before the SDK is loaded.
 */
export function silenceSdkAdvice(): void {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
}
