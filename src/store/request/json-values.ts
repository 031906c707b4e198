import { eachInTurns } from '../../scheduling/turns.js';
import type { JsonOperation } from './json-command.js';
import { itemOf, valueOf, wireOf, type WireMap } from './wire.js';

/**
 * Where lib-dynamodb's description of a request or response has values: at null, and in all entries of an empty object.
 */
type Nodes = { readonly [name: string]: Nodes } | null;

/** The fields that lib-dynamodb lets subclasses of its commands use. */
interface Described {
  readonly inputKeyNodes: Nodes;
  readonly outputKeyNodes: Nodes;
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

const DYNAMODB = 'DynamoDB_20120810';

interface ItemsJson {
  readonly Items?: readonly WireMap[];
}

/**
 * The operation of a command of lib-dynamodb, with its description of where values are. They are converted by `wireOf` and
 * `valueOf`, because its own conversion mistakes a map with an entry `constructor` for an instance of a class, and loses an
 * entry `__proto__`; lists of items in turns, because a whole response at once would delay other requests.
 */
export function plainOperation<Input extends object, Output>(
  target: string,
  Command: new (input: Input) => object,
): JsonOperation<Input, Output> {
  const { inputKeyNodes, outputKeyNodes } = new Command({} as Input) as unknown as Described;
  return {
    target: `${DYNAMODB}.${target}`,
    inJson: (input) => convertAt(input, inputKeyNodes, wireOf),
    async fromJson({ Items: wire, ...rest }: ItemsJson, turn) {
      const output = convertAt(rest, outputKeyNodes, valueOf) as Output;
      if (wire === undefined) return output;
      const items: unknown[] = [];
      await eachInTurns(wire, turn, (item) => items.push(itemOf(item)));
      return { ...output, Items: items };
    },
  };
}

/** An operation whose items and keys stay in wire format, bytes as base64. */
export const wireOperation = <Input, Output>(target: string, service = DYNAMODB): JsonOperation<Input, Output> => ({
  target: `${service}.${target}`,
  inJson: (input) => input,
  fromJson: async (json: Output) => json,
});
