import { CellportError } from '../../errors.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { MapMarker } from '../../model/marker.js';
import type { Call } from '../database.js';
import { retryInBackground } from '../request/pacing.js';
import { decodePage } from './page-data.js';
import { pagesFrom, UnknownPageFormat, type PageSet } from './pages.js';

const PAGES_A_RESPONSE = 100;
/** How often pages may be replaced during a walk: each time, a recount has ended. */
const MOST_REPLACED = 3;

/** The pages of a collection. */
export interface WalkedPages {
  readonly scope: string;
  /** Their generation at this moment; undefined if there are none. A former one may be deleted at any time. */
  readonly generation: () => Promise<string | undefined>;
  /** The first characters of the geohashes, in order. */
  readonly partitions: readonly string[];
}

/**
 * Yields all markers on pages, in order, response by response; `part` is the fraction done, 0 to 1. One that does not move
 * is yielded once. Throws UNAVAILABLE if there are no pages, and CONFLICT if they are replaced again and again.
 */
export async function* walkPages(
  call: Call,
  { scope, generation, partitions }: WalkedPages,
): AsyncGenerator<{ readonly markers: readonly MapMarker[]; readonly part: number }> {
  const patiently = <T>(work: () => Promise<T>) => retryInBackground(work, call.signal);
  const inUse = async (): Promise<string> => {
    const found = await patiently(generation);
    if (found !== undefined) return found;
    const message = `there are no pages of ${scope} yet: start a server, or run \`cellport recount\``;
    throw new CellportError('UNAVAILABLE', message);
  };
  let now = await inUse();
  let replaced = 0;
  let last = '';
  for (const [index, partition] of partitions.entries()) {
    for (let next: string | undefined = partition; next !== undefined;) {
      const from: string = next;
      const of: PageSet = { scope, generation: now };
      const pages = await patiently(() => pagesFrom(call, of, from, PAGES_A_RESPONSE));
      // Pages are deleted once others have replaced them: these are all there were only if they are still in use.
      now = await inUse();
      if (now !== of.generation) {
        replaced += 1;
        if (replaced > MOST_REPLACED)
          throw new CellportError('CONFLICT', `the pages of ${scope} were replaced; try again`);
        // Others begin elsewhere.
        next = partition;
        continue;
      }
      const markers: MapMarker[] = [];
      for (const { data } of pages) {
        const entries = decodePage(data, scope);
        if (entries === undefined) throw new UnknownPageFormat();
        for (const { position, marker } of entries) {
          // A page that has been split meanwhile is followed by markers that it still had.
          if (compareBytes(position, last) <= 0) continue;
          markers.push(marker);
          last = position;
        }
      }
      yield { markers, part: index / partitions.length };
      next = pages.at(-1)?.end;
    }
  }
}
