import { MarkerCache } from '../../src/loaders/marker-cache.js';
import type { Database } from '../../src/store/database.js';

/** For tests that must read every marker, and those that write without a stream. */
export function noMarkerCache({ keys }: Database) {
  return new MarkerCache({ keys, maxBytes: 0, trusted: () => false, now: () => performance.now() });
}
