import { pause } from '../retry.js';
import type { ServerOptions } from './options.js';
import {
  errorOf,
  isPassing,
  isRefusal,
  post,
  replyOf,
  RETRIES,
  ViewportError,
  type GraphqlResponse,
} from './request.js';

/** The events of a stream, as text. */
async function* eventsIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const events = (text + read.value).split('\n\n');
      text = events.pop() ?? '';
      yield* events;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/**
 * Yields the answers of an event stream, which is opened again after it breaks, its credential expires or the rules change;
 * events in between are not repeated. Rejects with ViewportError if the server refuses it or its headers, and with AbortError
 * if aborted.
 */
export async function* followEvents(
  open: () => Promise<Response>,
  signal: AbortSignal | undefined,
): AsyncGenerator<GraphqlResponse, void> {
  for (let failures = 0; ; failures += 1) {
    let isOpen = false;
    try {
      const response = await open();
      isOpen = response.ok;
      if (!isOpen || !response.body) return void (await replyOf(response, response.url, signal));
      for await (const event of eventsIn(response.body)) {
        if (event.startsWith('event: complete')) return;
        const answer = JSON.parse(/^data: (.+)/m.exec(event)?.[1] ?? '{}') as GraphqlResponse;
        const error = errorOf(answer.errors, 'UNAVAILABLE');
        if (error) throw error;
        yield answer;
        failures = 0;
      }
    } catch (error) {
      const isLasting = error instanceof ViewportError && !isPassing(error) && !(isOpen && isRefusal(error));
      if (isLasting || signal?.aborted === true) throw error;
    }
    await pause(failures, { ...RETRIES, signal });
  }
}

/** Yields the data of each event of a subscription, until it is complete, as `followEvents` follows its stream. */
export async function* subscribe<T extends object>(
  options: ServerOptions,
  query: string,
  variables: object,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  const open = () => post(options, query, variables, signal, '/stream');
  for await (const { data } of followEvents(open, signal)) if (data) yield data as T;
}
