import { valueOf, wireOf } from './wire.js';

/**
 * Where lib-dynamodb's description of a request or response has values: at null, and in all entries of an empty object.
 */
type Nodes = { readonly [name: string]: Nodes } | null;

interface Request {
  readonly input: unknown;
}
interface Answer {
  readonly output: unknown;
}
interface Place {
  readonly name: string;
  readonly relation: 'before';
  readonly toMiddleware: string;
  readonly override: true;
}

/** The fields that lib-dynamodb lets subclasses of its commands use and replace. */
interface Replaceable {
  readonly middlewareStack: {
    addRelativeTo(
      step: (next: (request: Request) => Promise<Answer>) => (request: Request) => Promise<Answer>,
      place: Place,
    ): void;
  };
  readonly inputKeyNodes: Nodes;
  readonly outputKeyNodes: Nodes;
  addMarshallingMiddleware: () => void;
}

function convertAt(part: unknown, nodes: Nodes | undefined, convert: (value: never) => unknown): unknown {
  if (nodes === undefined || part === undefined) return part;
  if (nodes === null) return convert(part as never);
  if (typeof part !== 'object' || part === null) return part;
  const nodesOf = (name: string) => (Object.keys(nodes).length === 0 ? null : (nodes['*'] ?? nodes[name]));
  if (Array.isArray(part)) return part.map((entry) => convertAt(entry, nodesOf('*'), convert));
  return Object.fromEntries(
    Object.entries(part).flatMap(([name, entry]) =>
      entry === undefined ? [] : [[name, convertAt(entry, nodesOf(name), convert)]],
    ),
  );
}

/**
 * Makes a command of lib-dynamodb convert values with `wireOf` and `valueOf`. Its own conversion mistakes a map with an
 * entry `constructor` for an instance of a class, and loses an entry `__proto__`.
 */
export function exact<C extends { readonly input: object }>(command: C): C {
  const { middlewareStack, inputKeyNodes, outputKeyNodes } = command as unknown as Replaceable;
  const addMarshallingMiddleware = () => {
    middlewareStack.addRelativeTo(
      (next) => (request) => next({ ...request, input: convertAt(request.input, inputKeyNodes, wireOf) }),
      { name: 'DocumentMarshall', relation: 'before', toMiddleware: 'serializerMiddleware', override: true },
    );
    middlewareStack.addRelativeTo(
      (next) => async (request) => {
        const answer = await next(request);
        return { ...answer, output: convertAt(answer.output, outputKeyNodes, valueOf) };
      },
      { name: 'DocumentUnmarshall', relation: 'before', toMiddleware: 'deserializerMiddleware', override: true },
    );
  };
  return Object.assign(command, { addMarshallingMiddleware });
}
