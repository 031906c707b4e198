import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import type { Item } from '../database.js';
import { exact } from './exact-values.js';
import { type WireMap, itemOf } from './wire.js';

/** The part of an HTTP response that matters here; the body has not been read yet. */
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

/** Takes the items out of a response, so that the SDK reads the rest of it. One that is not JSON is left to the SDK. */
async function takeItems(response: Response): Promise<readonly WireMap[] | undefined> {
  const bytes = await bytesIn(response.body);
  response.body = bytes;
  try {
    const { Items, ...rest } = JSON.parse(bytes.toString()) as QueryAnswer;
    response.body = Buffer.from(JSON.stringify(rest));
    return Items;
  } catch {
    return undefined;
  }
}

/**
 * A Query whose items we parse ourselves. The SDK walks each value of each item three times (by its schema, for a log that
 * is never written, and in lib-dynamodb), which took most of the CPU time of a viewport. The SDK still does everything else:
 * signing, retries, errors, capacity, keys.
 */
export function queryCommand(input: QueryCommandInput): QueryCommand {
  const command = exact(new QueryCommand(input));
  let items: readonly Item[] | undefined;
  command.middlewareStack.addRelativeTo(
    <Args, Result extends { response: unknown }>(next: (args: Args) => Promise<Result>) =>
      async (args: Args) => {
        const result = await next(args);
        const response = result.response as Response;
        items = response.statusCode === 200 ? (await takeItems(response))?.map(itemOf) : undefined;
        return result;
      },
    // lib-dynamodb adds the command's own steps to the stack twice.
    { name: 'takeItems', relation: 'after', toMiddleware: 'deserializerMiddleware', override: true },
  );
  command.middlewareStack.addRelativeTo(
    <Args, Result extends { output: object }>(next: (args: Args) => Promise<Result>) =>
      async (args: Args) => {
        const result = await next(args);
        if (items !== undefined) Object.assign(result.output, { Items: items });
        return result;
      },
    { name: 'putItemsBack', relation: 'before', toMiddleware: 'DocumentUnmarshall', override: true },
  );
  return command;
}
