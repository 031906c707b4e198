import { MarkerCache } from '../../src/loaders/marker-cache.js';
import type { Database } from '../../src/store/database.js';

/** For tests in which every marker is to be read, and those that write past the stream. */
export function noMarkerCache({ keys }: Database) {
  return new MarkerCache({ keys, maxBytes: 0, trusted: () => false, now: () => performance.now() });
}
