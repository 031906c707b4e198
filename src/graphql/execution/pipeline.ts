import { getOperationAST, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';

import { badInput, CellportError, limitExceeded } from '../../errors.js';
import type { Log } from '../../log.js';
import type { Limits } from '../../model/limits.js';
import { checkMutation, executedFields } from '../actions.js';
import { changesIn } from '../audited.js';
import type { RequestContext, Services } from '../context.js';
import { errorFormatter, type FormatError } from '../error-format.js';
import { checkAnswerSize } from '../limits/answer-size.js';
import { documentReader, type Verdict } from './documents.js';
import type { Execution, Executor } from './executor.js';
import { PersistedDocuments } from './persisted.js';
import { variableErrors, withAnyPositions } from './variables.js';
import { withinBudget } from './within-budget.js';

/** What a client sends to start an operation, unchecked. */
export interface OperationRequest {
  readonly query?: unknown;
  readonly operationName?: unknown;
  readonly variables?: unknown;
  /** May have the hash of a document instead of its text: see `PersistedDocuments`. */
  readonly extensions?: unknown;
}

/** The operation in the parameters of a URL. What is not JSON remains a string, which is refused later. */
export function operationIn(parameters: Readonly<Record<string, string | undefined>>): OperationRequest {
  const valueOf = (name: string): unknown => {
    try {
      return JSON.parse(parameters[name] ?? 'null');
    } catch {
      return parameters[name];
    }
  };
  return { ...parameters, variables: valueOf('variables'), extensions: valueOf('extensions') };
}

export interface Failed {
  readonly errors: readonly GraphQLFormattedError[];
}

/** The result of an operation, its errors in the form that clients see. */
export interface OperationResult extends Partial<Failed> {
  readonly data?: Readonly<Record<string, unknown>> | null;
}

const NEEDS_STREAM = new CellportError(
  'BAD_USER_INPUT',
  'subscriptions need a WebSocket at /graphql (graphql-ws) or server-sent events from /graphql/stream',
  { field: 'query' },
);

const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null;

/** The other fields of a request with their types. Throws BAD_USER_INPUT naming the first invalid field. */
function readRequest({ operationName, variables }: OperationRequest) {
  if (!isNothing(operationName) && typeof operationName !== 'string') {
    throw badInput('operationName', operationName, 'a string');
  }
  if (!isNothing(variables) && (typeof variables !== 'object' || Array.isArray(variables))) {
    throw badInput('variables', variables, 'a JSON object');
  }
  return { variables: { ...variables }, operationName: operationName ?? undefined };
}

/** Maximum number of errors in one answer; a long list may have one for each item. */
const MAX_ERRORS = 100;

/** The errors of an answer as clients see them; the last one gives the number of those omitted. */
function listed(errors: readonly unknown[], format: FormatError): readonly GraphQLFormattedError[] {
  const more = errors.length - MAX_ERRORS;
  const shown = errors.slice(0, MAX_ERRORS).map(format);
  if (more <= 0) return shown;
  const left = limitExceeded('number of errors', errors.length, MAX_ERRORS, `${more} more were omitted`);
  return [...shown, format(left)];
}

/**
 * The steps of every operation over any transport: `find` finds the document of a request, and has it `read`, which checks
 * its limits, parses and validates it; `prepare` does that for an operation of a stream and checks the rest of the request;
 * `execute` runs it. `answer` does all of them for an HTTP request whose document has been read.
 */
export class Pipeline {
  readonly schema: GraphQLSchema;
  readonly format: FormatError;
  readonly read: (document: string) => Verdict;
  readonly #executor: Executor;
  readonly #limits: Limits;
  readonly #introspection: boolean;
  readonly #documents: PersistedDocuments;

  constructor(
    schema: GraphQLSchema,
    executor: Executor,
    { limits, introspection = true, trustedDocuments }: Pick<Services, 'limits' | 'introspection' | 'trustedDocuments'>,
    log: Log,
  ) {
    this.schema = schema;
    this.format = errorFormatter(log);
    // Of the trusted documents, any may introspect.
    const mayIntrospect = introspection || trustedDocuments !== undefined;
    this.read = documentReader({ schema, limits, introspection: mayIntrospect, format: this.format });
    this.#documents = new PersistedDocuments(trustedDocuments);
    this.#executor = executor;
    this.#limits = limits;
    this.#introspection = introspection;
  }

  /**
   * The document of a request, which may have only its hash; undefined if it has neither. `isOwn`: whether it is this
   * program's, which need not be listed. Never throws.
   */
  async find(request: OperationRequest, isOwn = false): Promise<({ readonly text?: string } & Verdict) | undefined> {
    try {
      const text = isOwn ? request.query : await this.#documents.find(request);
      return typeof text === 'string' ? { text, ...this.read(text) } : undefined;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** An operation that is ready to be executed, or the errors for which it is refused. */
  async prepare(request: OperationRequest, context: RequestContext, isOwn?: boolean): Promise<Execution | Failed> {
    try {
      const found = await this.find(request, isOwn);
      if (found === undefined) throw badInput('query', request.query, 'the text of a GraphQL document');
      const { document, errors } = found;
      if (errors) return { errors };
      const { variables, operationName } = readRequest(request);
      const operation = getOperationAST(document, operationName) ?? undefined;
      return await this.#checked({ document, operation, operationName, variables, context });
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Executes an operation within the budget of its principal. */
  async execute(execution: Execution): Promise<OperationResult> {
    const { context, units = 0 } = execution;
    const run = withinBudget(context, units, () => this.#run(execution));
    return this.#audited(execution, await run.catch((error: unknown) => this.#failed(error)));
  }

  /** The result, once it has been noted who has changed what. */
  async #audited<T extends OperationResult>(execution: Execution, result: T): Promise<T> {
    const { operation, context } = execution;
    const { services, access, address: from } = context;
    if (operation?.operation !== 'mutation' || services.audit === undefined) return result;
    // Those are reported by the minute.
    if (result.data === undefined && result.errors?.[0]?.extensions?.['code'] === 'THROTTLED') return result;
    const { id: who, name } = access?.principal ?? { id: 'anyone', name: null };
    const changes = changesIn(execution, result);
    const at = services.now().toISOString();
    await services.audit({ at, who, name, from, operation: operation.name?.value, changes });
    return result;
  }

  async #run(execution: Execution): Promise<OperationResult> {
    const { operation, context } = execution;
    // Megabytes of variables take some 30 ms to check, and as long to be read by resolvers.
    await context.work.turn();
    if (operation?.operation === 'mutation') context.work.startWriting();
    const { data, errors } = await this.#executor(execution);
    const { refusal } = context.work;
    if (refusal) return this.#failed(refusal);
    return { ...(data === undefined ? {} : { data }), ...(errors && { errors: listed(errors, this.format) }) };
  }

  async answer(given: Execution): Promise<OperationResult> {
    if (given.operation?.operation === 'subscription') return this.#failed(NEEDS_STREAM);
    const execution = await this.#checked(given);
    return 'errors' in execution ? execution : this.execute(execution);
  }

  #failed(error: unknown): Failed {
    return { errors: [this.format(error)] };
  }

  /** The operation, or the errors for which it is refused and that can be found without executing it. */
  async #checked(given: Execution): Promise<Execution | Failed> {
    const checked = this.#check(given);
    return 'errors' in checked ? this.#audited(given, checked) : checked;
  }

  #check(given: Execution): Execution | Failed {
    const { schema } = this;
    const { document, operation, context } = given;
    // graphql-js reports an unknown operation name.
    if (operation === undefined) return given;
    const variables = withAnyPositions(operation, given.variables);
    if (operation.operation === 'mutation' && context.forbidsWrites) return this.#failed(context.forbidsWrites);
    const errors = variableErrors(schema, operation, variables, { hideSuggestions: !this.#introspection });
    if (errors.length > 0) return { errors: errors.map(this.format) };
    try {
      if (operation.operation === 'mutation' && context.access) {
        checkMutation(schema, document, operation, variables, context);
      }
      // graphql-js would fail to find the first one.
      if (operation.operation === 'subscription' && executedFields(document, operation, variables).fields.length === 0)
        throw badInput('query', 'none', 'a subscription to a field that is not left out');
      const units = checkAnswerSize(schema, document, operation, variables, this.#limits);
      return { ...given, variables, units };
    } catch (error) {
      return this.#failed(error);
    }
  }
}
