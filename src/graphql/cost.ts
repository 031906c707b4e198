import { type Meter, newMeter } from '../store/meter.js';

const HEADER = 'x-cellport-cost';

/** Whether a request asks what it costs; `headers` by lower-case name. */
export function asksForCost(headers: Readonly<Record<string, unknown>>): boolean {
  return headers[HEADER] === '1';
}

/** The text of an answer with what DynamoDB reported for it under `extensions.cost`; all zeros where nothing was sent. */
export function withCost(body: string, cost: Meter = newMeter()): string {
  const answer = JSON.parse(body) as { readonly extensions?: object };
  return JSON.stringify({ ...answer, extensions: { ...answer.extensions, cost } });
}
