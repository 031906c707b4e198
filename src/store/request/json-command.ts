import { DynamoDBServiceException, QueryCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';

import type { Turn } from '../../scheduling/turns.js';

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Response {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

interface Args {
  readonly input: object;
  readonly request?: Request;
}

type Handler = (args: Args) => Promise<{ readonly response: Response; readonly output?: object }>;

/** A stack of the SDK, whose types know only its own commands. */
interface Stack {
  clone(): Stack;
  remove(name: string): boolean;
  add(step: (next: Handler) => Handler, place: { name: string; step: string; override: true }): void;
  resolve(last: Handler, context: object): Handler;
}

interface Endpoint {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
}

type Config = DynamoDBClient['config'];

/** An operation of DynamoDB's JSON protocol, as `DynamoDB_20120810.Query`, and how its input and output are converted. */
export interface JsonOperation<Input, Output> {
  readonly target: string;
  readonly inJson: (input: Input) => unknown;
  readonly fromJson: (json: never, turn: Turn) => Promise<Output>;
}

/** Middleware of clients that prepares requests as `requestOf` does. */
const REPLACED = [
  'httpAuthSchemeMiddleware',
  'contentLengthMiddleware',
  'hostHeaderMiddleware',
  'getUserAgentMiddleware',
];

/** Parsing more takes milliseconds, and several such responses arrive at once. */
const LONG_RESPONSE_BYTES = 64 * 1024;

const endpoints = new WeakMap<Config, Endpoint>();

/** Where AWS has the service. It is the same for all commands of a client. */
async function serviceEndpoint(config: Config): Promise<Endpoint> {
  const { url } = await getEndpointFromInstructions({}, QueryCommand, config);
  const { protocol, hostname, port, pathname } = url;
  return { protocol, hostname, port: port === '' ? undefined : Number(port), path: pathname };
}

async function endpointOf(config: Config): Promise<Endpoint> {
  // That of the embedded engine changes when it restarts.
  if (config.endpoint !== undefined) return config.endpoint();
  // Kept once it is known: what the SDK finds it by may fail for a moment, as a region or an account of a role.
  const endpoint = endpoints.get(config) ?? (await serviceEndpoint(config));
  endpoints.set(config, endpoint);
  return endpoint;
}

async function requestOf(config: Config, target: string, json: unknown) {
  const { protocol, hostname, port, path } = await endpointOf(config);
  const body = JSON.stringify(json);
  const headers = {
    host: port ? `${hostname}:${port}` : hostname,
    'content-type': 'application/x-amz-json-1.0',
    'content-length': String(Buffer.byteLength(body)),
    'x-amz-target': target,
    // By which operators find these requests in logs of AWS. What the SDK would say takes a twentieth of a command's CPU time.
    'user-agent': 'cellport',
  };
  return { method: 'POST', protocol, hostname, port, path, query: {}, headers, body };
}

async function bytesIn(body: Response['body']): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

interface FailureJson {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
}

/** The error that the SDK would throw for a response. */
function failureOf(response: Response, text: string): Error {
  const { statusCode, headers } = response;
  let json: FailureJson = {};
  try {
    json = JSON.parse(text) as FailureJson;
  } catch {
    // Not DynamoDB's, but that of a proxy before it.
  }
  const { __type: type = 'UnknownError', message = text, Message = message, ...details } = json;
  const error = new DynamoDBServiceException({
    name: type.replaceAll(/^.*#|:.*$/g, ''),
    message: Message,
    $fault: statusCode < 500 ? 'client' : 'server',
    $metadata: { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid'] ?? '' },
  });
  // The SDK takes the time of the server from it.
  Object.defineProperty(error, '$response', { value: response });
  return Object.assign(error, details);
}

/**
 * A command for `send` of an SDK client that writes and reads its JSON directly. The SDK walks each value by its schema
 * several times and prepares each command anew, which takes half of the CPU time of a command. Everything else is the
 * client's: connections, time limits, retries, credentials and signing, corrections of the clock, middleware.
 */
export class JsonCommand<Input extends object, Output> {
  readonly input: Input;
  readonly #operation: JsonOperation<Input, Output>;
  readonly #turn: Turn;

  constructor(operation: JsonOperation<Input, Output>, input: Input, turn: Turn) {
    this.input = input;
    this.#operation = operation;
    this.#turn = turn;
  }

  /** Called by the client. */
  resolveMiddleware(clientStack: Stack, config: Config, options: { readonly abortSignal?: AbortSignal } = {}): Handler {
    const { target, inJson, fromJson } = this.#operation;
    const stack = clientStack.clone();
    for (const name of REPLACED) stack.remove(name);
    const context = {
      commandName: `${target.replace(/^.*\./, '')}Command`,
      __smithy_context: { abortSignal: options.abortSignal, selectedHttpAuthScheme: {} },
    };
    stack.add(
      (next) => async (args) => {
        context.__smithy_context.selectedHttpAuthScheme = {
          httpAuthOption: { signingProperties: { config, context } },
          identity: await config.credentials(),
          signer: config.httpAuthSchemes[0]?.signer,
        };
        return next({ ...args, request: await requestOf(config, target, inJson(args.input as Input)) });
      },
      { name: 'serializerMiddleware', step: 'serialize', override: true },
    );
    stack.add(
      (next) => async (args) => {
        const { response } = await next(args);
        const bytes = await bytesIn(response.body);
        if (response.statusCode !== 200) throw failureOf(response, bytes.toString());
        if (bytes.length > LONG_RESPONSE_BYTES) await this.#turn();
        const output = await fromJson(JSON.parse(bytes.toString()) as never, this.#turn);
        return { response, output: { $metadata: { httpStatusCode: 200 }, ...output } };
      },
      { name: 'deserializerMiddleware', step: 'deserialize', override: true },
    );
    const last = ({ request }: Args) => config.requestHandler.handle(request as never, options);
    return stack.resolve(last as Handler, context);
  }
}
