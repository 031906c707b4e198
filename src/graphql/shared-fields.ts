import { type GraphQLFieldResolver, OperationTypeNode } from 'graphql';

import type { RequestContext } from './context.js';
import type { Work } from './work.js';

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
export function shared(field: string, resolve: Resolver): Resolver {
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
