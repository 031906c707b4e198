import { createServer, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { forward, type Forwarded } from '../support/forward.js';

/** What the way to DynamoDB may do to a request. A partition gives no answer, before or after the request was served. */
export const WIRE_FAULTS = [
  'slow',
  'throttled',
  'failing',
  'unreachable',
  'partitioned',
  'partitioned for answers',
  'answer lost',
] as const;
export type WireFault = (typeof WIRE_FAULTS)[number];

/** A fault that the given share of requests meets. */
export interface Weather {
  readonly fault: WireFault;
  readonly share: number;
}

export interface FaultProxy {
  readonly url: string;
  /** Requests that have met a fault. */
  readonly met: Readonly<Partial<Record<WireFault, number>>>;
  /** Replaces the weather; connections that a partition holds break when it ends. */
  readonly set: (weather: Weather | undefined) => void;
  readonly close: () => Promise<void>;
}

const SLOWEST_MS = 1_500;

const refusal = (type: string) =>
  Buffer.from(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'injected' }));
const JSON_10 = { 'content-type': 'application/x-amz-json-1.0' };
const REFUSALS = {
  throttled: { status: 400, headers: JSON_10, body: refusal('ProvisionedThroughputExceededException') },
  failing: { status: 500, headers: JSON_10, body: refusal('InternalServerError') },
} as const satisfies Partial<Record<WireFault, Forwarded>>;

function give(answer: ServerResponse, { status, headers, body }: Forwarded): void {
  answer.writeHead(status, { ...headers, date: new Date().toUTCString() });
  answer.end(body);
}

/** Starts a proxy between one server and the engine, whose endpoint may change. */
export async function startFaultProxy(endpoint: () => Promise<string>, random: () => number): Promise<FaultProxy> {
  let weather: Weather | undefined;
  const met: Partial<Record<WireFault, number>> = {};
  const held = new Set<ServerResponse>();

  async function serve(answer: ServerResponse, onward: () => Promise<Forwarded>): Promise<void> {
    const fault = weather && random() < weather.share ? weather.fault : undefined;
    if (fault === undefined) return give(answer, await onward());
    met[fault] = (met[fault] ?? 0) + 1;
    if (fault === 'throttled' || fault === 'failing') return give(answer, REFUSALS[fault]);
    if (fault === 'unreachable') return void answer.destroy();
    if (fault === 'partitioned') return void held.add(answer);
    if (fault === 'slow') await sleep(random() * SLOWEST_MS);
    const got = await onward();
    if (fault === 'slow') give(answer, got);
    else if (fault === 'answer lost') answer.destroy();
    else held.add(answer);
  }

  const server = createServer((asked, answer) => {
    buffer(asked)
      .then(async (body) => serve(answer, async () => forward(await endpoint(), asked, body)))
      // The server or the engine was killed.
      .catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const letGo = () => {
    for (const answer of held) answer.destroy();
    held.clear();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    met,
    set(next) {
      weather = next;
      letGo();
    },
    close: () =>
      new Promise((resolve) => {
        letGo();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
