import type { Bounds } from '../../src/client/public.js';
import { type FirstCollections, readBounds, readFirstCollections } from './collections.js';
import { fitWithoutAnimation } from './fly.js';
import { followLoad } from './follow-load.js';
import { openMap } from './open-map.js';
import { Page } from './page.js';
import { type Status, createStatus } from './status.js';
import { createTheme } from './theme.js';
import { readHash } from './url-hash.js';

/** How long after a failure the collections are read again, unless the user is faster. */
const RETRY_MS = 5_000;
/** How long the map waits for what it shows first. */
const BOUNDS_MS = 3_000;

/** Reads the collections, again and again until the server responds. */
async function readCollections(status: Status): Promise<FirstCollections> {
  for (;;) {
    try {
      return await readFirstCollections();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await new Promise<void>((resolve) => {
        status.show(`Could not load the collections: ${message}`, { label: 'Retry', act: resolve });
        setTimeout(resolve, RETRY_MS);
      });
      status.clear();
    }
  }
}

/** What the map shows first unless its address says: the first collection with markers. Null if that is not known soon. */
async function readFirstBounds({ collections }: FirstCollections): Promise<Bounds | null> {
  const filled = collections.find(({ count }) => count > 0);
  if (!filled) return null;
  return readBounds(filled.key, AbortSignal.timeout(BOUNDS_MS)).catch(() => null);
}

/** Opens the map and everything around it. Rejects if the browser cannot draw it. */
export async function startPage(): Promise<void> {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const initial = readHash(location.hash);
  const status = createStatus();
  status.loading(true);
  let page: Page | undefined;
  const theme = createTheme(() => page?.repaint());
  const reading = readCollections(status);
  const covering = initial.at ? null : reading.then(readFirstBounds);
  const map = await openMap(theme.theme, initial.at, still);
  const collections = await reading;
  const bounds = await covering;
  if (bounds) fitWithoutAnimation(map, bounds);
  page = new Page({ map, collections, status, theme, fade: !still });
  page.begin(collections, initial);
  void followLoad(status, () => page?.refresh());
}
