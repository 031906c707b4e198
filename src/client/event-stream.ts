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
 * Yields the data of each event of a subscription, until it is complete. Its event stream is opened again after it breaks,
 * its credential expires or the rules change; events in between are not repeated. Rejects with ViewportError if the
 * operation fails or its headers are refused, and with AbortError if aborted.
 */
export async function* subscribe<T extends object>(
  options: ServerOptions,
  query: string,
  variables: object,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  for (let failures = 0; ; failures += 1) {
    let isOpen = false;
    try {
      const response = await post(options, query, variables, signal, '/stream');
      isOpen = response.ok;
      if (!isOpen || !response.body) return void (await replyOf(response, options.url, signal));
      for await (const event of eventsIn(response.body)) {
        if (event.startsWith('event: complete')) return;
        const [, answer = '{}'] = /^data: (.+)/m.exec(event) ?? [];
        const { data, errors } = JSON.parse(answer) as GraphqlResponse;
        const error = errorOf(errors, 'UNAVAILABLE');
        if (error) throw error;
        if (data) yield data as T;
        failures = 0;
      }
    } catch (error) {
      const isLasting = error instanceof ViewportError && !isPassing(error) && !(isOpen && isRefusal(error));
      if (isLasting || signal?.aborted === true) throw error;
    }
    await pause(failures, { ...RETRIES, signal });
  }
}
