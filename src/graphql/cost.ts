import { type Meter, newMeter } from '../store/meter.js';

const HEADER = 'x-cellport-cost';

/** Whether a request asks what it costs; `headers` by lower-case name. */
export function asksForCost(headers: Readonly<Record<string, unknown>>): boolean {
  return headers[HEADER] === '1';
}

/**
 * The text of an answer, which has no extensions yet, with what DynamoDB reported for it under `extensions.cost`; all
 * zeros where nothing was sent.
 */
export function withCost(body: string, cost: Meter = newMeter()): string {
  // Not parsed for it: a map asks for the cost of each of its answers, and some are long.
  return `${body.slice(0, body.lastIndexOf('}'))},"extensions":${JSON.stringify({ cost })}}\n`;
}
