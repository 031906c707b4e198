import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';

import { readOn, type Connection } from '../../map/connection.js';
import type { Turn } from '../../scheduling/turns.js';
import type { RequestContext } from '../context.js';
import type { Work } from '../work.js';

type Resolver = GraphQLFieldResolver<unknown, RequestContext>;
type Arguments = Readonly<Record<string, unknown>>;

/** The fields that a request has resolved: by parent, then by field and arguments. */
class Resolved {
  readonly #byParent = new WeakMap<object, Map<string, unknown>>();
  /** Numbers for JSON values, the same for equal texts: an object that many fields share is serialized once. */
  readonly #numbers = new Map<string, number>();
  readonly #known = new WeakMap<object, number>();
  #unwritable = 0;

  of(parent: object): Map<string, unknown> {
    const before = this.#byParent.get(parent);
    if (before) return before;
    const fields = new Map<string, unknown>();
    this.#byParent.set(parent, fields);
    return fields;
  }

  nameOf(field: string, args: Arguments): string {
    const parts = Object.entries(args).map(([name, value]) => {
      if (typeof value === 'object' && value !== null) return `${name}: #${this.#numberOf(value)}`;
      return `${name}: ${JSON.stringify(value)}`;
    });
    return `${field}(${parts.join(', ')})`;
  }

  #numberOf(value: object): number {
    let number = this.#known.get(value);
    if (number !== undefined) return number;
    const text = written(value);
    number = text === undefined ? --this.#unwritable : (this.#numbers.get(text) ?? this.#numbers.size);
    if (text !== undefined) this.#numbers.set(text, number);
    this.#known.set(value, number);
    return number;
  }
}

/** The value as JSON; undefined if it is nested too deep. */
function written(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const resolved = new WeakMap<Work, Resolved>();

/**
 * Resolves a field of one object once per set of arguments, however many aliases request it. Only for queries: the
 * result of a mutation may change between two of its fields.
 */
function shared(field: string, resolve: Resolver): Resolver {
  return (parent, args: Arguments, context, info) => {
    if (info.operation.operation !== OperationTypeNode.QUERY) return resolve(parent, args, context, info);
    const { work } = context;
    const all = resolved.get(work) ?? new Resolved();
    resolved.set(work, all);
    const fields = all.of(typeof parent === 'object' && parent !== null ? parent : work);
    const name = all.nameOf(field, args);
    if (!fields.has(name)) fields.set(name, resolve(parent, args, context, info));
    return fields.get(name);
  };
}

/** An object with more fields counts as several, so an answer has at most this many values per object of the limit. */
const FIELDS_OF_AN_OBJECT = 20;
/** Number of values of a list that are completed before other requests get their turn: a few milliseconds of work. */
const STEP = 2_000;
/** Number of values that compiled code completes at once: takes as long as a step of graphql-js. */
const COMPILED_STEP = 50_000;

const fieldCounts = new WeakMap<SelectionSetNode, number>();

/** The number of fields in a selection, including nested ones and those in fragments. */
export function fieldsOf(set: SelectionSetNode, fragments: GraphQLResolveInfo['fragments']): number {
  const known = fieldCounts.get(set);
  if (known !== undefined) return known;
  let fields = 0;
  for (const selection of set.selections) {
    const under =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value]?.selectionSet : selection.selectionSet;
    fields += (selection.kind === Kind.FIELD ? 1 : 0) + (under ? fieldsOf(under, fragments) : 0);
  }
  fieldCounts.set(set, fields);
  return fields;
}

/** A view of a list that makes graphql-js complete one part per turn: it waits for items that are promises. */
function paced(items: readonly unknown[], size: number, turn: Turn): readonly unknown[] {
  let before: Promise<void> | undefined;
  return items.map((item, index) => {
    if (index < size) return item;
    if (index % size === 0) before = before ? before.then(turn) : turn();
    return before?.then(() => item) ?? item;
  });
}

/** Counts a list of objects that have so many fields each. Throws LIMIT_EXCEEDED. */
export const chargeList = (work: Work, objects: number, fields: number): void =>
  work.charge(objects * Math.max(1, Math.ceil(fields / FIELDS_OF_AN_OBJECT)));

/** Wraps a resolver so that the objects of its list are counted, and completed in turns. */
function bounded(resolve: Resolver): Resolver {
  return async (parent, args, context, info) => {
    const items: unknown = await resolve(parent, args, context, info);
    if (!Array.isArray(items)) return items;
    const { work, compiled } = context;
    const fields = info.fieldNodes.reduce(
      (sum, { selectionSet }) => sum + (selectionSet ? fieldsOf(selectionSet, info.fragments) : 0),
      0,
    );
    chargeList(work, items.length, fields);
    await work.turn();
    const values = items.length * Math.max(1, fields);
    if (!compiled) return values <= STEP ? items : paced(items, Math.ceil(STEP / Math.max(1, fields)), work.turn);
    if (values <= COMPILED_STEP) return items;
    compiled.tooLong = true;
    throw new Error('a list is too long for compiled code');
  };
}

/** Wraps the resolver of a connection so that it reads on while it finds nothing. */
function readingOn(resolve: Resolver): Resolver {
  return (parent, args: object, context, info) => {
    const read = async (input: object) => (await resolve(parent, input, context, info)) as Connection<unknown>;
    const { isLate } = context.work;
    return readOn(args, read, isLate, () => context.map.loaders.forget());
  };
}

const isConnection = (type: GraphQLOutputType) => {
  const named = getNamedType(type);
  return isObjectType(named) && 'pageInfo' in named.getFields();
};

const isListOfObjects = (type: GraphQLOutputType) =>
  isListType(getNullableType(type)) && isCompositeType(getNamedType(type));

/** Fields without arguments that read from the database or are expensive to compute. */
const EXPENSIVE: readonly string[] = [
  'Collection.count',
  'Collection.bounds',
  'Cell.children',
  'SearchConnection.totalCount',
];
/** Fields whose result depends on their selection, or that count each time they appear in the answer. */
const NEVER_SHARED: readonly string[] = [
  'Query.node',
  'Query.nodes',
  'Query._entities',
  'Query.marker',
  'Collection.marker',
  'Zone.geometry',
];

/**
 * Bounds every field of a schema, in place: lists of objects count towards the limit of objects and are completed in turns,
 * fields that read are resolved once for equal arguments, and connections read on while they find nothing.
 */
export function boundFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__') || type === schema.getSubscriptionType()) continue;
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      if (field.resolve && isConnection(field.type)) field.resolve = readingOn(field.resolve);
      const isShared = (field.args.length > 0 || EXPENSIVE.includes(name)) && !NEVER_SHARED.includes(name);
      if (isShared && field.resolve && type !== schema.getMutationType()) field.resolve = shared(name, field.resolve);
      if (!isListOfObjects(field.type)) continue;
      const property: Resolver = (parent) => (parent as Readonly<Record<string, unknown>>)[field.name];
      field.resolve = bounded(field.resolve ?? property);
    }
  }
}
