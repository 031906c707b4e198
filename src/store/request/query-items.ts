import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import { eachInTurns, type Turn } from '../../scheduling/turns.js';
import { exact } from './exact-values.js';
import { itemOf, type WireMap } from './wire.js';

/** The relevant part of an HTTP response; the body has not been read yet. */
interface Response {
  readonly statusCode: number;
  body: AsyncIterable<Uint8Array> | Uint8Array;
}

interface QueryAnswer {
  readonly Items?: readonly WireMap[];
}

async function bytesIn(body: Response['body']): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Parsing more takes milliseconds, and several such responses arrive at once. */
const LONG_RESPONSE_BYTES = 64 * 1024;

/**
 * Takes the items out of a response, so that the SDK reads only the rest of it. A response that is not JSON is left to
 * the SDK.
 */
async function takeItems(response: Response, turn: Turn): Promise<readonly WireMap[] | undefined> {
  const bytes = await bytesIn(response.body);
  response.body = bytes;
  if (bytes.length > LONG_RESPONSE_BYTES) await turn();
  try {
    const { Items, ...rest } = JSON.parse(bytes.toString()) as QueryAnswer;
    response.body = Buffer.from(JSON.stringify(rest));
    return Items;
  } catch {
    return undefined;
  }
}

interface Result {
  readonly response: unknown;
  readonly output: object;
}

interface Stack {
  addRelativeTo(
    step: (next: (request: unknown) => Promise<Result>) => (request: unknown) => Promise<Result>,
    place: { name: string; relation: 'before' | 'after'; toMiddleware: string; override: true },
  ): void;
}

/**
 * A command whose items come from `convert`, in turns: converting a whole response at once would delay other requests.
 * Middleware after `behind` does not see the items.
 */
function withItems<C>(command: C, turn: Turn, convert: (item: WireMap) => unknown, behind: string): C {
  const { middlewareStack } = command as unknown as { readonly middlewareStack: Stack };
  let items: unknown[] | undefined;
  middlewareStack.addRelativeTo(
    (next) => async (request) => {
      const result = await next(request);
      const response = result.response as Response;
      const taken = response.statusCode === 200 ? await takeItems(response, turn) : undefined;
      items = taken && [];
      await eachInTurns(taken ?? [], turn, (item) => items?.push(convert(item)));
      return result;
    },
    // lib-dynamodb adds the command's own steps to the stack twice.
    { name: 'takeItems', relation: 'after', toMiddleware: 'deserializerMiddleware', override: true },
  );
  middlewareStack.addRelativeTo(
    (next) => async (request) => {
      const result = await next(request);
      if (items !== undefined) Object.assign(result.output, { Items: items });
      return result;
    },
    { name: 'putItemsBack', relation: 'before', toMiddleware: behind, override: true },
  );
  return command;
}

/**
 * A Query whose items we parse ourselves. The SDK walks each value of each item three times (by its schema, for a log that
 * is never written, and in lib-dynamodb), which took most of the CPU time of a viewport. The SDK still does everything else:
 * signing, retries, errors, capacity, keys.
 */
export function queryCommand(input: QueryCommandInput, turn: Turn): QueryCommand {
  return withItems(exact(new QueryCommand(input)), turn, itemOf, 'DocumentUnmarshall');
}

/** A Query or Scan whose items are in wire format, bytes as base64. The SDK would lose an attribute named `__proto__`. */
export function inWireFormat<C>(command: C, turn: Turn): C {
  return withItems(command, turn, (item) => item, 'deserializerMiddleware');
}
