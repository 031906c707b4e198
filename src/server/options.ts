import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

import type { Authorize } from '../access/authorization.js';
import { isUnknown } from '../config.js';
import { CellportError, shown } from '../errors.js';
import type { Extension } from '../graphql/schema.js';
import type { Log } from '../log.js';
import { nearest } from '../model/shape.js';

export interface CellportOptions extends Extension {
  /** The name of the entity table; `CELLPORT_TABLE` by default. Missing tables are created. */
  readonly table?: string | undefined;
  /** Its region, credentials and endpoint are used; by default those of the AWS variables. */
  readonly client?: DynamoDBClient | undefined;
  /** Whether this process may follow the table's stream; true by default. */
  readonly consumer?: boolean | undefined;
  /** Whether the schema is a subgraph of Federation 2; `CELLPORT_FEDERATION` by default. */
  readonly federation?: boolean | undefined;
  /** Settings as in docs/configuration.md, in place of the environment variables of the same names. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /**
   * Decides in place of rules of access, for everything that is read or changed. It answers at once, so look up who asks
   * before. Caches keep no answers then.
   */
  readonly authorize?: Authorize | undefined;
  /** Encrypts cursors of who sees only some markers: the same on all servers. Random by default. */
  readonly cursorSecret?: string | undefined;
  /** Lines on standard error by default, as `cellport serve` writes them. */
  readonly log?: Log | undefined;
}

type Kind = readonly [isAllowed: (value: unknown) => boolean, allowed: string];

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string';
const eachOf = (value: unknown, is: (one: unknown) => boolean): boolean => [value].flat().every(is);

const TEXT: Kind = [isText, 'text'];
const SWITCH: Kind = [(value) => typeof value === 'boolean', 'true or false'];
const OPTIONS: Readonly<Record<keyof CellportOptions, Kind>> = {
  table: TEXT,
  client: [
    (value) => isObject(value) && isObject(value['config']) && isFunction(value['config']['region']),
    'a DynamoDBClient',
  ],
  consumer: SWITCH,
  federation: SWITCH,
  settings: [(value) => isObject(value) && !Array.isArray(value), 'an object with settings'],
  authorize: [isFunction, 'a function'],
  cursorSecret: [(value) => isText(value) && value !== '', 'text of a character or more'],
  log: [
    (value) => isObject(value) && ['error', 'warn', 'info', 'debug'].every((level) => isFunction(value[level])),
    'an object with the functions error, warn, info and debug',
  ],
  // A parsed document would do, too.
  typeDefs: [(value) => eachOf(value, (one) => isText(one) || isObject(one)), 'text, or a list of it'],
  resolvers: [(value) => eachOf(value, isObject), 'an object with types, or a list of such objects'],
};

/** A sentence for a value that is not allowed. Of objects it shows nothing: they may have credentials. */
const fault = (name: string, allowed: string, value: unknown): string =>
  `${name} must be ${allowed}; got ${isObject(value) ? 'another object' : isFunction(value) ? 'a function' : shown(value)}`;

function faultsOfSettings(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (isUnknown(name, value)) return `settings.${name} is not a setting: docs/configuration.md lists all settings`;
    return value === undefined || isText(value) ? [] : fault(`settings.${name}`, 'text', value);
  });
}

/**
 * What TypeScript checks for those who use it: throws BAD_USER_INPUT with a line for each fault. An option that is ignored
 * would lead to another table, or let everybody in.
 */
export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw new CellportError('BAD_USER_INPUT', fault('options', 'an object', options));
  const faults = Object.entries(options).flatMap(([name, value]) => {
    if (!Object.hasOwn(OPTIONS, name)) {
      return `${name} is unknown; the nearest name is ${nearest(name, Object.keys(OPTIONS))}`;
    }
    const [isAllowed, allowed] = OPTIONS[name as keyof CellportOptions];
    if (value !== undefined && !isAllowed(value)) return fault(name, allowed, value);
    return name === 'settings' && isObject(value) ? faultsOfSettings(value) : [];
  });
  if (faults.length > 0) throw new CellportError('BAD_USER_INPUT', faults.join('\n'), { faults });
}
