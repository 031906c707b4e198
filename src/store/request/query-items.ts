import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import type { Item } from '../database.js';

/** A value in wire format: one entry, whose name is its type. Numbers and bytes are strings. */
type Wire = Readonly<Record<string, unknown>>;
export type WireMap = Readonly<Record<string, Wire>>;

const WHOLE = /^-?\d+$/;

/** Integers of more than 53 bits become BigInt, as in lib-dynamodb; a fraction so large, on which that throws, is rounded. */
function numberOf(text: string): number | bigint {
  const number = Number(text);
  const large = Number.isFinite(number) && Math.abs(number) > Number.MAX_SAFE_INTEGER;
  return large && WHOLE.test(text) ? BigInt(text) : number;
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));

/** A value of DynamoDB in JavaScript, the same as from lib-dynamodb. */
function valueOf(wire: Wire): unknown {
  for (const type in wire) {
    const value = wire[type];
    switch (type) {
      case 'S':
        return value;
      case 'N':
        return numberOf(value as string);
      case 'M':
        return itemOf(value as WireMap);
      case 'BOOL':
        return value;
      case 'NULL':
        return null;
      case 'L':
        return (value as readonly Wire[]).map(valueOf);
      case 'B':
        return bytesOf(value as string);
      case 'SS':
        return new Set(value as readonly string[]);
      case 'NS':
        return new Set((value as readonly string[]).map(numberOf));
      case 'BS':
        return new Set((value as readonly string[]).map(bytesOf));
      default:
    }
  }
  throw new Error(`a value of unknown type: ${JSON.stringify(wire)}`);
}

/** An item, or a map within one. Converts the parsed object in place, as nothing else refers to it. */
export function itemOf(wire: WireMap): Item {
  const item = wire as Record<string, unknown>;
  for (const name in wire) {
    const value = wire[name];
    if (value !== undefined) item[name] = valueOf(value);
  }
  return item;
}

/** A copy of a value of the stream. DynamoDB Local writes an empty map there as a value without a type. */
function wholeValue(wire: Wire): Wire {
  if (wire['M'] !== undefined) return { M: wholeMap(wire['M'] as WireMap) };
  if (wire['L'] !== undefined) return { L: (wire['L'] as readonly Wire[]).map(wholeValue) };
  for (const _type in wire) return wire;
  return { M: {} };
}

function wholeMap(wire: Readonly<Record<string, Wire | undefined>>): WireMap {
  return Object.fromEntries(Object.entries(wire).map(([name, value]) => [name, wholeValue(value ?? {})]));
}

/** Some attributes of an image of the stream, which is not changed. */
export function attributesOf(image: Readonly<Record<string, Wire | undefined>>, names: readonly string[]): Item {
  return itemOfImage(Object.fromEntries(names.filter((name) => image[name]).map((name) => [name, image[name]])));
}

/** The item of an image of the stream, which is not changed. */
export function itemOfImage(image: Readonly<Record<string, Wire | undefined>>): Item {
  return itemOf(wholeMap(image));
}

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
  const command = new QueryCommand(input);
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
