import { READINGS } from '../api/documents.js';

/** Readings that arrive within this time are drawn together: sensors send several at once. */
const BATCH_MS = 300;

/** Calls `onNew` when readings of a marker are recorded. Returns a function that stops this. */
export function followReadings(id: string, onNew: () => void): () => void {
  const search = new URLSearchParams({ query: READINGS, variables: JSON.stringify({ id }) });
  const events = new EventSource(`/graphql/stream?${search}`);
  let due: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(due);
    events.close();
  };
  events.addEventListener('next', () => {
    due ??= setTimeout(() => {
      due = undefined;
      onNew();
    }, BATCH_MS);
  });
  // Otherwise the browser would keep reconnecting to a server that has no stream.
  events.addEventListener('complete', stop);
  return stop;
}
