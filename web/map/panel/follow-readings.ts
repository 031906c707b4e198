import { subscribe } from '../../../src/client/public.js';
import { READINGS } from '../api/documents.js';
import { SERVER } from '../api/graphql.js';

/** Readings that arrive within this time are drawn together: sensors send several at once. */
const BATCH_MS = 300;

/** Calls `onNew` when readings of a marker are recorded. Returns a function that stops this. */
export function followReadings(id: string, onNew: () => void): () => void {
  const stopping = new AbortController();
  let due: ReturnType<typeof setTimeout> | undefined;
  const follow = async () => {
    for await (const _ of subscribe(SERVER, READINGS, { id }, stopping.signal)) {
      due ??= setTimeout(() => {
        due = undefined;
        onNew();
      }, BATCH_MS);
    }
  };
  // A server without a stream refuses; the card then shows what it has read.
  follow().catch(() => undefined);
  return () => {
    clearTimeout(due);
    stopping.abort();
  };
}
