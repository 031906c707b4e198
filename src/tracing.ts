import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';

import { CellportError } from './errors.js';

export type { Attributes } from '@opentelemetry/api';

/** Does nothing unless the process has an SDK of OpenTelemetry, which users may set later than this is loaded. */
const tracer = () => trace.getTracer('cellport');

/** Failures that are not the client's. */
const OURS = new Set<string | undefined>(['UNAVAILABLE', 'THROTTLED', 'INTERNAL_SERVER_ERROR']);

/** What the spans of a request are parts of. None of them tells values, or keys of items. */
export interface Traced {
  readonly context: Context;
  /** That of the request itself; undefined if others end it. */
  readonly span?: Span;
}

/** Begins the span of a request, in the one that is active or that its headers name; undefined if nobody traces it. */
export function traceRequest(headers: object = {}): Traced | undefined {
  const active = context.active();
  const isInner = trace.getSpan(active) !== undefined;
  const parent = isInner ? active : propagation.extract(active, headers);
  const span = tracer().startSpan('cellport.request', { kind: isInner ? SpanKind.INTERNAL : SpanKind.SERVER }, parent);
  return trace.isSpanContextValid(span.spanContext()) ? { context: trace.setSpan(parent, span), span } : undefined;
}

/** What is part of the active span; undefined if there is none. */
export function tracedByOthers(): Traced | undefined {
  const active = context.active();
  return trace.getSpan(active) && { context: active };
}

/** Ends a span with what is known at last; `failure` names why it failed. */
export function endSpan(span: Span, attributes: Attributes, failure?: string): void {
  span.setAttributes({ ...attributes, 'error.type': failure });
  if (OURS.has(failure)) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Does a step of a request, in a span if that is traced; `note` adds attributes. */
export async function inSpan<T>(
  of: Traced | undefined,
  name: string,
  attributes: Attributes,
  step: (note: (attributes: Attributes) => void) => T | Promise<T>,
): Promise<T> {
  if (of === undefined) return step(() => undefined);
  const span = tracer().startSpan(
    name,
    { kind: name.startsWith('DynamoDB') ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes },
    of.context,
  );
  let failure: string | undefined;
  try {
    return await context.with(trace.setSpan(of.context, span), () => step((more) => span.setAttributes(more)));
  } catch (error) {
    failure = error instanceof CellportError ? error.code : 'INTERNAL_SERVER_ERROR';
    throw error;
  } finally {
    endSpan(span, {}, failure);
  }
}
