import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { z } from 'zod';

import { badInput, CellportError } from '../errors.js';
import { MOST_UNITS, PERIODS, type Budget } from '../model/budget.js';
import { ACTIONS } from '../model/grant.js';
import { MOST_OF_A_QUOTA, QUOTA_NAMES, type Quotas } from '../model/quotas.js';
import { anyNames, fields, list, readShape } from '../model/shape.js';
import { readFilter, type MarkerFilterInput } from '../read/filter.js';

const MOST = { roles: 100, rules: 100, names: 100, variables: 32, characters: 512 } as const;

const NAME = 'must be 1 to 64 letters, digits, "_", "-" or "."';
export const roleName = z.string(NAME).regex(/^[\w.-]{1,64}$/, NAME);
const PATTERN = 'must be the key of a collection, or the beginning of keys and "*"';
const pattern = z
  .string(PATTERN)
  .regex(/^[a-z0-9_-]{0,63}\*?$/, PATTERN)
  .min(1, PATTERN);
const LONGEST = `must have at most ${MOST.characters} characters`;
const text = (what: string) => z.string(`must be ${what}`).min(1, `must be ${what}`).max(MOST.characters, LONGEST);

const where = fields(
  {
    category: list(z.string('must be text'), 1_000, 'categories').optional(),
    updatedAfter: text('a time').optional(),
    properties: list(z.looseObject({}, 'must be a comparison of a property'), 50, 'comparisons').optional(),
  },
  'must be a filter of markers: { "properties": [{ "name": "fleet", "eq": "$fleet" }] }',
);

const rule = fields(
  {
    collections: list(pattern, MOST.names, 'keys of collections').min(1, 'must have one key or more'),
    may: list(z.enum(ACTIONS, `must be one of ${ACTIONS.join(' | ')}`), 4, 'actions').min(1, 'must have one action'),
    where: where.optional(),
    hide: list(text('the name of a property'), MOST.names, 'names of properties').default([]),
  },
  'must be an object with collections and may',
);

const rules = list(rule, MOST.rules, 'rules');
const UNITS = 'must be a whole number of read units from 1 to 1,000,000,000';
const budget = fields(
  {
    units: z.int(UNITS).min(1, UNITS).max(MOST_UNITS, UNITS),
    per: z.enum(PERIODS, 'must be minute, hour or day'),
  },
  'must be an object with units and per',
);
const QUOTA = 'must be a whole number from 0 to 1,000,000,000,000';
const quota = z.int(QUOTA).min(0, QUOTA).max(MOST_OF_A_QUOTA, QUOTA).optional();
const quotas = fields(
  { collections: quota, markersPerCollection: quota, bytesPerCollection: quota, bytesPerMarker: quota },
  `must be an object with some of ${QUOTA_NAMES.join(', ')}`,
);
const role = z
  .union([
    rules,
    fields(
      { rules, budget: budget.optional(), quotas: quotas.optional() },
      'must be a list of rules, or an object with rules',
    ),
  ])
  .transform((written): Role => (Array.isArray(written) ? { rules: written } : written));

const VARIABLE = 'must be named with letters, digits and "_"';
const variableName = z.string(VARIABLE).regex(/^[A-Za-z_]\w*$/, VARIABLE);

const JWKS = 'must be an https URL (http on the loopback only), or an object with keys';
const isSafe = (url: string) =>
  URL.canParse(url) && /^(https:|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?\/)/.test(new URL(url).href);
const PUBLIC = 'must be a public key of RSA, EC or OKP as JSON Web Key';
function isPublic(key: JsonWebKey): boolean {
  try {
    return key.d === undefined && createPublicKey({ key, format: 'jwk' }).type === 'public';
  } catch {
    return false;
  }
}
const jwt = fields(
  {
    jwks: z.union(
      [
        z.string(JWKS).refine(isSafe, JWKS),
        z.object({ keys: z.array(z.looseObject({}, PUBLIC).refine(isPublic, PUBLIC)).min(1, JWKS) }, JWKS),
      ],
      JWKS,
    ),
    issuer: text('the issuer of tokens'),
    audience: text('the audience of tokens'),
    roles: text('the path of a claim').default('roles'),
    variables: anyNames(
      z.record(
        variableName,
        text('the path of a claim'),
        `must be an object with the path of a claim for each variable, which ${VARIABLE}`,
      ),
    ).default({}),
  },
  'must be an object with jwks, issuer and audience',
);

const document = fields(
  {
    roles: anyNames(z.record(roleName, role, `must be an object with the rules of each role, whose name ${NAME}`)),
    jwt: jwt.optional(),
  },
  'must be an object with roles: see docs/access.md',
);

export type Rule = z.output<typeof rule>;
interface Role {
  readonly rules: readonly Rule[];
  readonly budget?: Budget | undefined;
  readonly quotas?: Quotas | undefined;
}
export type TokenRules = z.output<typeof jwt>;
/** Who may do what, as in its file. See docs/access.md. */
export type AccessRules = z.output<typeof document>;

export type Variables = Readonly<Record<string, unknown>>;

/** The name of the variable that a text stands for: `$fleet`. */
const variableIn = (value: unknown) => (typeof value === 'string' ? /^\$([A-Za-z_]\w*)$/.exec(value)?.[1] : undefined);

/** A filter with the values of a principal's variables; undefined if it lacks one, so that no marker matches. */
export function filled(where: NonNullable<Rule['where']>, variables: Variables): MarkerFilterInput | undefined {
  let isComplete = true;
  const value = (written: unknown): unknown => {
    const name = variableIn(written);
    if (name === undefined) return Array.isArray(written) ? written.map(value) : written;
    if (!Object.hasOwn(variables, name)) isComplete = false;
    return variables[name];
  };
  const properties = where.properties?.map((comparison) => {
    const { name, ...compared } = comparison as { readonly name: string };
    return { name, ...Object.fromEntries(Object.entries(compared).map(([how, what]) => [how, value(what)])) };
  });
  const category = where.category?.map(value) as readonly string[] | undefined;
  const updatedAfter = value(where.updatedAfter) as string | undefined;
  return isComplete ? { category, updatedAfter, properties } : undefined;
}

/** Values for variables where a text would not do. */
const SAMPLES = new Map<string, unknown>([
  ['in', []],
  ['exists', true],
  ['updatedAfter', '1970-01-01T00:00:00Z'],
]);

/** Throws BAD_USER_INPUT if no values of variables make a rule's filter valid. */
function checkWhere(name: string, at: number, { where: written }: Rule): void {
  if (written === undefined) return;
  // Compared as it is, it would be unequal to everything.
  const [, typo] = /"(\$(?![A-Za-z_]\w*")[^"]*)"/.exec(JSON.stringify(written)) ?? [];
  if (typo !== undefined)
    throw new CellportError(
      'BAD_USER_INPUT',
      `roles.${name}[${at}].where: ${typo} is not a variable, which ${VARIABLE}`,
    );
  const sample = new Map<string, unknown>();
  for (const [, field = '', variable = ''] of JSON.stringify(written).matchAll(/(?:"(\w+)":)?"\$([A-Za-z_]\w*)"/g)) {
    sample.set(variable, SAMPLES.get(field) ?? sample.get(variable) ?? '');
  }
  const where = filled(written, Object.fromEntries(sample));
  const field = `roles.${name}[${at}].where`;
  try {
    if (readFilter(where) === undefined) throw badInput('filter', written, 'left out, or a comparison');
  } catch (error) {
    if (!(error instanceof CellportError)) throw error;
    throw new CellportError('BAD_USER_INPUT', error.message.replace(/^filter/, field), error.details);
  }
  const [, kept] = /"(\$[A-Za-z_]\w*)"/.exec(JSON.stringify(where)) ?? [];
  if (kept !== undefined) throw badInput(field, kept, 'with variables as values, or in lists of values');
}

/** Validates rules. Throws one BAD_USER_INPUT with a line for each fault. */
export function readRules(json: unknown): AccessRules {
  const read = readShape(document, json, 'the rules');
  const roles = Object.entries(read.roles);
  if (roles.length > MOST.roles) throw new CellportError('BAD_USER_INPUT', `roles must be at most ${MOST.roles}`);
  for (const [name, { rules: each }] of roles) for (const [at, one] of each.entries()) checkWhere(name, at, one);
  return read;
}
