/** `cellport/server`: Cellport as a part of your own server. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { GraphQLFormattedError, GraphQLSchema } from 'graphql';

import { authorizedBy } from '../access/authorize.js';
import { credentialIn } from '../access/credential.js';
import { readConfig } from '../config.js';
import { CellportError, type ErrorCode } from '../errors.js';
import { createContext } from '../graphql/context.js';
import { formatted } from '../graphql/error-format.js';
import { SCHEMA } from '../graphql/schema-text.js';
import { Work } from '../graphql/work.js';
import { fetchFrom } from '../http/fetch.js';
import { createLog } from '../log-output.js';
import { openTables } from '../store/table/tables.js';
import { tracedByOthers } from '../tracing.js';
import { openBackend } from './backend.js';
import { DELETE, GET, MARKER, UPDATE, UPSERT, VIEWPORT } from './documents.js';
import type {
  BoundsInput,
  DeleteMutation,
  GetQuery,
  OwnMarkerFragment as Marker,
  MarkerInput,
  UpdateMarkerInput,
  UpdateMutation,
  UpsertMutation,
  ViewQuery,
} from './generated.js';
import { openServer, type Server } from './open-server.js';
import { checkOptions, type CellportOptions } from './options.js';

export { CellportError, type ErrorCode } from '../errors.js';
export type { Log } from '../log.js';
export type { Authorization, AuthorizationQuestion } from '../access/authorization.js';
export type { Extension } from '../graphql/schema.js';
export type { CellportOptions } from './options.js';

/** A request in your server: a `Request` of fetch, or one of Node's. */
export type AnyRequest = { readonly headers: Headers } | { readonly headers: IncomingHttpHeaders };

export interface Operation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly operationName?: string | undefined;
  /** Those of who asks, if there are rules or `authorize`; without them, your own code asks. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Cellport {
  /** The executable schema, with your own types. Give each operation a `context` of its own. */
  readonly schema: GraphQLSchema;
  /**
   * The context of one operation of `schema`. Throws UNAUTHENTICATED or FORBIDDEN if rules are on and the request's
   * credential does not verify. The checks of whole documents, budgets and the audit are part of `fetch` and `execute` only.
   */
  context(request?: AnyRequest): Promise<object>;
  /** Answers a request like `cellport serve` does, with all its limits: GraphQL, event streams, health and pages. */
  fetch(this: void, request: Request): Promise<Response>;
  /** Executes one operation with all limits. Its errors are in the result. */
  execute<Data = Readonly<Record<string, unknown>>>(
    operation: Operation,
  ): Promise<{ readonly data?: Data | null; readonly errors?: readonly GraphQLFormattedError[] }>;
  readonly markers: {
    /** Creates or replaces up to 500 markers. Throws the error of the mutation `upsertMarkers`. */
    upsert(collection: string, markers: readonly MarkerInput[]): Promise<UpsertMutation['result']>;
    /** A marker by its ID, with the latest write; null if there is none. */
    get(id: string): Promise<Marker | null>;
    /** Throws NOT_FOUND if there is no such marker, and CONFLICT if it does not have the `expectedVersion`. */
    update(input: UpdateMarkerInput): Promise<Marker>;
    /** Deletes up to 500 markers by their IDs. */
    delete(ids: readonly string[]): Promise<DeleteMutation['result']>;
  };
  /** What is in a rectangle, as GeoJSON: markers, or clusters if there are more than `limit`. */
  viewport(view: View): Promise<Features>;
  /** Stops everything; requests in progress may finish within their deadline, and others fail with UNAVAILABLE. */
  close(): Promise<void>;
}

/** A GeoJSON FeatureCollection: markers, and clusters with the properties `cluster` and `count`. */
export interface Features {
  readonly type: 'FeatureCollection';
  readonly features: readonly {
    readonly type: 'Feature';
    readonly id?: string;
    readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly [lng: number, lat: number] };
    readonly properties: Readonly<Record<string, unknown>>;
  }[];
}

export interface View {
  readonly collection: string;
  /** Degrees; it crosses the antimeridian if `west` > `east`. */
  readonly bounds: BoundsInput;
  /** That of web maps with tiles of 512 pixels. */
  readonly zoom: number;
  /** 2,000 by default. */
  readonly limit?: number | undefined;
}

const CLOSED = new CellportError('UNAVAILABLE', 'this Cellport has been closed; create another one');

/** Headers by their names in lower case. Of `Headers`, servers such as GraphQL Yoga bring a class of their own. */
function headersOf(headers: AnyRequest['headers'] | Operation['headers'] = {}): IncomingHttpHeaders {
  const entries = typeof headers.entries === 'function' ? headers.entries() : Object.entries(headers);
  return Object.fromEntries(Array.from(entries, ([name, value]) => [name.toLowerCase(), value]));
}

function ownSettings({ table, consumer, federation, settings }: CellportOptions) {
  return {
    ...settings,
    ...(table === undefined ? {} : { CELLPORT_TABLE: table }),
    ...(federation === undefined ? {} : { CELLPORT_FEDERATION: federation ? 'on' : 'off' }),
    ...(consumer === undefined ? {} : { CELLPORT_CONSUMER: consumer ? 'on' : 'off' }),
  };
}

/**
 * Opens Cellport in this process, without a port of its own. Throws BAD_USER_INPUT for invalid options and settings, and
 * UNAVAILABLE if DynamoDB cannot be reached.
 */
export async function createCellport(options: CellportOptions = {}): Promise<Cellport> {
  checkOptions(options);
  const read = readConfig({ own: ownSettings(options) });
  const { authorize, cursorSecret, client, typeDefs, resolvers, log = createLog(read.logLevel) } = options;
  // What one may see depends on more than the headers that caches know.
  const config = authorize === undefined ? read : { ...read, auth: undefined, cacheSeconds: 0 };
  const authenticator =
    authorize && authorizedBy(authorize, cursorSecret === undefined ? randomBytes(32) : Buffer.from(cursorSecret));
  const backend = await openBackend(config, { log, ...(client && { client }) });
  let server: Server | undefined;
  let closing: Promise<void> | undefined;
  const close = () =>
    (closing ??= (async () => {
      await server?.close();
      await backend.close();
    })());
  try {
    await openTables(backend.database);
    server = openServer(config, backend, { authenticator }, log);
    const { http, graphql } = await server.open({ typeDefs, resolvers });
    const answer = await fetchFrom(http);
    const { services } = server;

    const execute = async ({ headers, ...operation }: Operation) => {
      if (closing) return { errors: [formatted(CLOSED)] };
      const sent = { ...headersOf(headers), 'content-type': 'application/json' };
      const request = { method: 'POST', headers: sent, search: '', isOwn: headers === undefined };
      const { body } = await graphql.answer({ ...request, body: operation }, new AbortController().signal);
      return JSON.parse(body.toString()) as { data?: never; errors?: readonly GraphQLFormattedError[] };
    };
    const resultOf = async <Data extends { readonly result: unknown }>(
      query: string,
      variables: Operation['variables'],
    ) => {
      const { data, errors } = await execute({ query, variables });
      const [error] = errors ?? [];
      if (error) {
        const { code = 'UNAVAILABLE', ...details } = error.extensions ?? {};
        throw new CellportError(code as ErrorCode, error.message, details);
      }
      return (data as unknown as Data).result as Data['result'];
    };
    return {
      schema: graphql.schema,
      async context(request = { headers: {} }) {
        if (closing) throw CLOSED;
        const access = await graphql.accessOf(credentialIn(headersOf(request.headers)));
        const work = new Work(services.limits, services.db, undefined, 0, tracedByOthers());
        return createContext(services, work, access);
      },
      fetch: async (request) =>
        closing ? Response.json({ errors: [formatted(CLOSED)] }, { status: 503 }) : answer(request),
      execute,
      markers: {
        upsert: (collection, markers) => resultOf<UpsertMutation>(UPSERT, { collection, markers }),
        get: (id) => resultOf<GetQuery>(GET + MARKER, { id }),
        update: (input) => resultOf<UpdateMutation>(UPDATE + MARKER, { input }),
        delete: (ids) => resultOf<DeleteMutation>(DELETE, { ids }),
      },
      viewport: async (view) => (await resultOf<ViewQuery>(VIEWPORT, { ...view }))?.features as Features,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The text of the schema, without your own types. */
export const typeDefs: readonly string[] = SCHEMA;
