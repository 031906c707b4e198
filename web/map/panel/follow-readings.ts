import { READINGS } from '../documents.js';

/** Sensors send several at once: the card is drawn for all of them. */
const GATHER_MS = 300;

/** Calls back when readings of a marker were recorded, until the function that it gives is called. */
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
    }, GATHER_MS);
  });
  // Otherwise the browser would ask again and again a server that has nothing to tell, as one without a stream.
  events.addEventListener('complete', stop);
  return stop;
}
