import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

import { valueOf, type Choice, type Known } from './values.js';

/** A request for a server with this schema. */
export interface FuzzedRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** State of one document while it is written. */
interface Draft extends Known {
  readonly schema: GraphQLSchema;
  readonly choice: Choice;
  readonly types: Map<string, string>;
  readonly variables: Record<string, unknown>;
  aliases: number;
  fields: number;
  /** Fields are added up to about this number. */
  readonly size: number;
}

/** A value as a literal; undefined if only a variable can hold it. */
function literalOf(value: unknown, type: GraphQLInputType): string | undefined {
  if (isNonNullType(type)) return literalOf(value, type.ofType);
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '1e309';
  if (typeof value === 'string')
    return isEnumType(type) && /^\w+$/.test(value) ? value : JSON.stringify(value).replaceAll('\u2028', ' ');
  if (typeof value !== 'object') return JSON.stringify(value);
  const parts: string[] = [];
  const members = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  for (const [name, member] of members) {
    const fields = isInputObjectType(type) ? type.getFields() : {};
    const inner = isListType(type) ? type.ofType : (fields[String(name)]?.type ?? type);
    if (typeof name === 'string' && !/^[A-Za-z_]\w*$/.test(name)) return undefined;
    const text = parts.length > 200 ? undefined : literalOf(member, inner);
    if (text === undefined) return undefined;
    parts.push(typeof name === 'string' ? `${name}: ${text}` : text);
  }
  return Array.isArray(value) ? `[${parts.join(' ')}]` : `{${parts.join(' ')}}`;
}

const JSON_DEPTH = 60;
const isShallow = (value: unknown, levels = JSON_DEPTH): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1)));

function argument({ name, type }: GraphQLArgument, draft: Draft): string {
  const { choice } = draft;
  const value = valueOf(type, choice, draft);
  const literal = choice.once(2) && isShallow(value) ? literalOf(value, type) : undefined;
  if (literal !== undefined) return `${name}: ${literal}`;
  const variable = `v${draft.types.size}`;
  draft.types.set(variable, choice.wildly(30) ? 'JSON' : String(type));
  draft.variables[variable] = value;
  return `${name}: $${variable}`;
}

function field(definition: GraphQLField<unknown, unknown>, depth: number, draft: Draft): string | undefined {
  const { choice } = draft;
  const type = getNamedType(definition.type);
  const inner = isLeafType(type) ? '' : selections(type, depth - 1, draft);
  if (inner === undefined) return undefined;
  draft.fields += 1;
  const chosen = definition.args.filter(({ type: of, defaultValue }) => (isNonNullType(of) && defaultValue === undefined ? !choice.wildly(30) : choice.once(2))); // prettier-ignore
  const args = chosen.map((each) => argument(each, draft));
  const alias = choice.once(4) || definition.args.length > 0 ? `a${(draft.aliases += 1)}: ` : '';
  const directive = choice.once(25)
    ? choice.some([' @skip(if: false)', ' @include(if: true)', ' @skip(if: true)'])
    : '';
  return `${alias}${definition.name}${args.length > 0 ? `(${args.join(' ')})` : ''}${directive}${inner}`;
}

function selections(type: GraphQLNamedType, depth: number, draft: Draft): string | undefined {
  const { choice, schema } = draft;
  if (depth <= 0) return undefined;
  if (!isObjectType(type) && !isInterfaceType(type)) return ' {__typename}';
  const parts: string[] = choice.once(5) ? ['__typename'] : [];
  // The rest of the run would find nothing; deletion has its own tests.
  const all = Object.values(type.getFields()).filter(({ name }) => name !== 'deleteCollection');
  for (let left = 1 + choice.below(4); left > 0 && draft.fields < draft.size; left--) {
    const part = field(choice.some(all), depth, draft);
    if (part !== undefined) parts.push(part);
  }
  if (isInterfaceType(type)) {
    for (const possible of schema.getPossibleTypes(type)) {
      const inner = choice.once(2) ? selections(possible, depth - 1, draft) : undefined;
      if (inner !== undefined) parts.push(`... on ${possible.name}${inner}`);
    }
  }
  return parts.length === 0 ? undefined : ` {${parts.join(' ')}}`;
}

/** A document for the schema with its variables: mostly valid, with arguments at the limits of what is allowed. */
export function fuzzedRequest(
  schema: GraphQLSchema,
  operation: 'query' | 'mutation',
  choice: Choice,
  known: Known,
): FuzzedRequest {
  // Mostly small documents: one mistake in a large document hides others, and it takes ten times as long.
  const size = choice.once(32) ? 60 : 1 + choice.below(10);
  const draft: Draft = { ...known, schema, choice, types: new Map(), variables: {}, aliases: 0, fields: 0, size };
  const root = operation === 'query' ? schema.getQueryType() : schema.getMutationType();
  const body = (root && selections(root, 2 + choice.below(7), draft)) ?? ' {__typename}';
  const types = [...draft.types].map(([name, type]) => `$${name}: ${type}`);
  return { query: `${operation}${types.length > 0 ? ` (${types.join(' ')})` : ''}${body}`, variables: draft.variables };
}
