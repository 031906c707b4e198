import { z } from 'zod';

import { LOG_LEVELS } from './log.js';
import { PARTITION_LIMITS } from './model/dynamodb-limits.js';
import { DEFAULT_CACHE_MB, DEFAULT_LIMITS, LAYOUT_LIMITS, type Limits } from './model/limits.js';

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
const cdn = z
  .string()
  .regex(/^cloudfront:[A-Z0-9]{5,32}$/, 'must be cloudfront: and the ID of a distribution')
  .transform((value) => value.slice('cloudfront:'.length))
  .optional();
const SWITCH = z.enum(['on', 'off', '1', '0'], 'must be on or off');
const isOn = (value: string) => value === 'on' || value === '1';
const onOrOff = (fallback: 'on' | 'off') => SWITCH.default(fallback).transform(isOn);
/** By default on if only this machine reaches the server. */
const onLocally = SWITCH.transform(isOn).optional();
/** A bucket, and the prefix of object names. */
export const S3_PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w.-]+(?:\/[\w.-]+)*)?\/?)?$/;
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

const NETWORK = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const MOST_PROXIES = 16;
export const MOST_WORKERS = 128;
const proxies = z
  .string()
  .transform((text) =>
    text === 'off' ? 0 : /^\d+$/.test(text) ? Number(text) : text.split(',').map((each) => each.trim()),
  )
  .refine(
    (value) =>
      typeof value === 'number' ? value <= MOST_PROXIES : value.every((each) => NETWORK.safeParse(each).success),
    `must be off, a number of proxies up to ${MOST_PROXIES}, or a comma-separated list of addresses and networks such as 10.0.0.0/8`,
  )
  .default(0);

/** The variable of each limit, and what it may be. */
const LIMIT_VARIABLES = {
  maxFirst: ['CELLPORT_MAX_FIRST', 1, 100_000],
  maxDepth: ['CELLPORT_MAX_DEPTH', 3, 100],
  maxAliases: ['CELLPORT_MAX_ALIASES', 0, 100_000],
  maxFields: ['CELLPORT_MAX_FIELDS', 10, 1_000_000],
  maxTokens: ['CELLPORT_MAX_TOKENS', 100, 1_000_000],
  maxNodes: ['CELLPORT_MAX_NODES', 100, 10_000_000],
  maxBodyBytes: ['CELLPORT_MAX_BODY_BYTES', 1024, 100_000_000],
  maxDocumentBytes: ['CELLPORT_MAX_DOCUMENT_BYTES', 1024, 10_000_000],
  maxAnswerBytes: ['CELLPORT_MAX_ANSWER_BYTES', 100_000, 400_000_000],
  deadlineMs: ['CELLPORT_DEADLINE_MS', 100, 600_000],
  // A page that needs base items for its filter keeps some for them.
  queryCalls: ['CELLPORT_MAX_RANGES', LAYOUT_LIMITS.writeShards + 8, 10_000],
  itemsPerField: ['CELLPORT_MAX_ITEMS', 100, 10_000_000],
  inlineGeometryBytes: ['CELLPORT_INLINE_GEOMETRY_BYTES', 0, 300_000],
  readingQueries: ['CELLPORT_MAX_READING_QUERIES', 1, 1_000_000],
  maxRequestUnits: ['CELLPORT_MAX_REQUEST_UNITS', 0, 1_000_000_000],
  subscriptions: ['CELLPORT_MAX_SUBSCRIPTIONS', 0, 1_000_000],
  subscriptionsPerConnection: ['CELLPORT_MAX_SUBSCRIPTIONS_PER_CONNECTION', 1, 100_000],
  connectionsPerAddress: ['CELLPORT_MAX_CONNECTIONS_PER_ADDRESS', 1, 1_000_000],
  handshakesPerAddress: ['CELLPORT_MAX_HANDSHAKES_PER_ADDRESS', 1, 1_000_000],
  socketsPerMinute: ['CELLPORT_MAX_SOCKETS_PER_MINUTE', 1, 1_000_000],
} as const satisfies Record<keyof Limits, readonly [variable: string, from: number, to: number]>;

type LimitVariable = (typeof LIMIT_VARIABLES)[keyof Limits][0];
const LIMIT_NAMES = Object.keys(LIMIT_VARIABLES) as (keyof Limits)[];

const limitVariables = Object.fromEntries(
  LIMIT_NAMES.map((name) => {
    const [variable, from, to] = LIMIT_VARIABLES[name];
    return [variable, wholeNumber(from, to, DEFAULT_LIMITS[name])];
  }),
) as Record<LimitVariable, ReturnType<typeof wholeNumber>>;

/** The limits that the variables give. */
export function limitsOf(values: Settings): Limits {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, values[LIMIT_VARIABLES[name][0]]])) as unknown as Limits;
}

/** Every variable that is read, with what it may be and its default. */
export const variables = z.object({
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
  CELLPORT_SPREAD_WCU: wholeNumber(0, 1_000_000, 0.8 * PARTITION_LIMITS.writeUnits),
  CELLPORT_SEARCH_MB: digits(0, 1_000_000).optional(),
  CELLPORT_OPENSEARCH_URL: url,
  ...limitVariables,
  CELLPORT_GRAPHQL_JIT: onOrOff('on'),
  CELLPORT_INTROSPECTION: onLocally,
  CELLPORT_EXPLAIN: onLocally,
  CELLPORT_GRAPHIQL: onLocally,
  CELLPORT_DOCUMENTS: z.enum(['any', 'trusted'], 'must be any or trusted').default('any'),
  CELLPORT_CACHE_SECONDS: wholeNumber(0, 86_400, 0),
  CELLPORT_CDN: cdn,
  CELLPORT_READ_ONLY: onOrOff('off'),
  CELLPORT_FEDERATION: onOrOff('off'),
  CELLPORT_AUTH: z.enum(['on', 'off', '1', '0'], 'must be on or off').optional(),
  CELLPORT_KEY: text,
  CELLPORT_AUDIT: z.enum(['log', 'table', 'off'], 'must be log, table or off').optional(),
  CELLPORT_BUDGETS: z.enum(['enforce', 'measure'], 'must be enforce or measure').default('enforce'),
  CELLPORT_CONSUMER: onOrOff('on'),
  CELLPORT_REDIS_URL: redisUrl,
  CELLPORT_WORKERS: digits(1, MOST_WORKERS).optional(),
  CELLPORT_LOG: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('warn'),
  CELLPORT_DRAIN_MS: wholeNumber(0, 600_000, 0),
  PORT: wholeNumber(0, 65_535, 4000),
  HOST: z.string().default('127.0.0.1'),
  CELLPORT_ADMIN_PORT: digits(0, 65_535).optional(),
  CELLPORT_ADMIN_HOST: text,
  CELLPORT_ALLOWED_HOSTS: hosts,
  CELLPORT_ALLOWED_ORIGINS: origins,
  CELLPORT_TRUST_PROXY: proxies,
  CELLPORT_STYLE_URL: url,
  CELLPORT_STYLE_ORIGINS: origins,
  AWS_ENDPOINT_URL_DYNAMODB: url,
  AWS_ENDPOINT_URL_DYNAMODB_STREAMS: url,
  AWS_ENDPOINT_URL_S3: url,
  AWS_ENDPOINT_URL_CLOUDFRONT: url,
  AWS_ENDPOINT_URL: url,
  AWS_REGION: text,
  AWS_DEFAULT_REGION: text,
  AWS_PROFILE: text,
});

/** The values of all variables. */
export type Settings = z.infer<typeof variables>;
