import { setImmediate } from 'node:timers';

import { systemClock } from '../clock.js';

/** How long what waits for arrivals waits at most, in milliseconds. */
const MOST_MS = 10;

/** Connections accepted by this process. */
let connections = 0;

/** To be called for each connection that a server accepts. */
export function connectionAccepted(): void {
  connections += 1;
}

/**
 * Calls back once no connection waits to be accepted, or after 10 ms. Node accepts one connection in a round of the event
 * loop: if each round did a piece of work as well, a new client would wait for as many pieces as clients came before it.
 */
export function afterArrivals(callback: () => void): void {
  const until = systemClock.now() + MOST_MS;
  let before: number | undefined;
  setImmediate(function look() {
    if (connections === before || systemClock.now() > until) return callback();
    before = connections;
    setImmediate(look);
  });
}
