import { writeFileSync } from 'node:fs';
import { propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

// What a user loads with NODE_OPTIONS=--import: an SDK, here one that keeps its spans until the process ends.

const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
propagation.setGlobalPropagator(new W3CTraceContextPropagator());

process.on('exit', () => {
  const spans = exporter.getFinishedSpans().map((span) => {
    const { traceId, spanId } = span.spanContext();
    const { name, kind, attributes, status, parentSpanContext } = span;
    return { traceId, spanId, parent: parentSpanContext?.spanId, name, kind, attributes, status: status.code };
  });
  writeFileSync(process.env['TEST_SPANS'] ?? '', JSON.stringify(spans));
});
