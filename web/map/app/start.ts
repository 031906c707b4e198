import { ViewportError, type Bounds } from '../../../src/client/public.js';
import { retry } from '../../../src/retry.js';
import { showSignIn } from '../../access/sign-in.js';
import { readHash, type PageState } from '../address/url-hash.js';
import { readBounds, readFirstCollections, type FirstCollections } from '../api/collections.js';
import { createConnection, isPassing, type Connection } from '../api/connection.js';
import { followLoad } from '../api/follow-load.js';
import { SERVER } from '../api/graphql.js';
import { byId } from '../dom/element.js';
import { createOfflineNotice, createStatus, type Status } from '../dom/status.js';
import { drawRefusal } from '../import/first-screen.js';
import { fitWithoutAnimation } from '../view/fly.js';
import { openMap } from './open-map.js';
import { Page } from './page.js';
import { createTheme } from './theme.js';

/** How long after a failure the collections are read again, unless the server says when. */
const RETRIES = { firstMs: 1_000, longestMs: 30_000 };
/** How long the map waits for what it shows first. */
const BOUNDS_MS = 3_000;

/** How soon a server that has refused is asked again: its rules may have been written. */
const REFUSED_MS = 3_000;

const codeOf = (error: unknown) => (error instanceof ViewportError ? error.code : undefined);

/** Reads the collections, again and again until the server answers. Asks to sign in once if that is why it does not. */
async function readCollections(status: Status, connection: Connection): Promise<FirstCollections> {
  let isAsked = false;
  const found = await retry(readFirstCollections, {
    ...RETRIES,
    attempts: Infinity,
    retryAfterMs(error) {
      if (codeOf(error) === 'UNAUTHENTICATED' || codeOf(error) === 'FORBIDDEN') return REFUSED_MS;
      return error instanceof ViewportError ? error.retryAfterMs : undefined;
    },
    onRetry(failure) {
      const error = failure instanceof Error ? failure : new Error(String(failure));
      connection({ loading: false, error });
      status.loading(false);
      const signIn = () => showSignIn(undefined, error.message);
      if (codeOf(error) === 'FORBIDDEN') drawRefusal(byId('first'), error.message);
      else if (codeOf(error) === 'UNAUTHENTICATED') {
        if (!isAsked) signIn();
        isAsked = true;
        status.show('Sign in to use this server.', { label: 'Sign in', act: signIn });
      } else if (!isPassing(error)) status.show(`Could not load the collections: ${error.message}`);
    },
  });
  byId('first').hidden = true;
  document.querySelector<HTMLDialogElement>('dialog.sign-in')?.close();
  status.clear();
  return found;
}

/**
 * What the map shows first unless its address says: the first of its collections with markers. Null if that is not known
 * soon.
 */
async function readFirstBounds({ collections }: FirstCollections, { on }: PageState): Promise<Bounds | null> {
  const filled = collections.find(({ key, count }) => count > 0 && (on?.includes(key) ?? true));
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
  const again = () => page?.refresh(true);
  const onStale = createOfflineNotice(() => (page ? again() : location.reload()));
  addEventListener('online', again);
  const connection = createConnection({ onStale, onDead: again });
  connection({ loading: true, error: null });
  const reading = readCollections(status, connection);
  const showsOwn = initial.at ?? initial.place ?? initial.pin;
  const covering = showsOwn === undefined ? reading.then((first) => readFirstBounds(first, initial)) : null;
  const map = await openMap(theme.theme, initial.at, still);
  const collections = await reading;
  const bounds = await covering;
  if (bounds) fitWithoutAnimation(map, bounds);
  page = new Page({ map, collections, status, connection, theme, fade: !still });
  page.begin(collections, initial);
  void followLoad(
    (text) => status.show(text),
    () => page?.refresh(),
    SERVER.headers,
  );
}
