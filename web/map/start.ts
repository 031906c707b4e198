import { type FirstCollections, readFirstCollections } from './collections.js';
import { fitWithoutAnimation } from './fly.js';
import { followLoad } from './follow-load.js';
import { openMap } from './open-map.js';
import { Page } from './page.js';
import { type Status, createStatus } from './status.js';
import { createTheme } from './theme.js';
import { readHash } from './url-hash.js';

/** Reads the collections; lets the user retry until the server responds. */
async function readCollections(status: Status): Promise<FirstCollections> {
  for (;;) {
    try {
      return await readFirstCollections();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await new Promise<void>((resolve) =>
        status.show(`Could not load the collections: ${message}`, { label: 'Retry', act: resolve }),
      );
    }
  }
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
  const map = await openMap(theme.theme, initial.at, still);
  const collections = await reading;
  const bounds = collections.collections.find((each) => each.bounds !== null)?.bounds;
  if (!initial.at && bounds) fitWithoutAnimation(map, bounds);
  page = new Page({ map, collections, status, theme, fade: !still });
  page.begin(collections, initial);
  void followLoad(status, () => page?.refresh());
}
