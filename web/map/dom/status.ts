import { button, byId, element } from './element.js';
import { icon } from './icons.js';

/** A button offered with the message. */
export interface Remedy {
  readonly label: string;
  readonly act: () => void;
}

const VISIBLE_MS = 6_000;

export interface Status {
  /** Shows or hides the progress line at the top. */
  loading(on: boolean): void;
  /**
   * Shows a message. One with a remedy stays until the remedy is used or the message closed; others disappear after a
   * while unless they are shown again.
   */
  show(text: string, remedy?: Remedy): void;
  /** Hides a message whose remedy is no longer needed. */
  clear(): void;
}

/** The progress line and the message bar. */
export function createStatus(): Status {
  const [progress, bar] = [byId('progress'), byId('bar')];
  let closing: ReturnType<typeof setTimeout> | undefined;
  let shown = '';
  let isLasting = false;
  const close = () => {
    clearTimeout(closing);
    bar.hidden = true;
    shown = '';
    isLasting = false;
  };
  return {
    loading: (on) => void progress.classList.toggle('on', on),
    show(text, remedy) {
      clearTimeout(closing);
      if (!remedy) closing = setTimeout(close, VISIBLE_MS);
      if (text === shown) return;
      shown = text;
      isLasting = remedy !== undefined;
      const act = remedy && button({ class: 'act' }, () => (close(), remedy.act()), remedy.label);
      const dismiss = button({ class: 'icon', 'aria-label': 'Close message' }, close, icon('close'));
      bar.replaceChildren(element('p', {}, text), ...(act ? [act] : []), dismiss);
      bar.hidden = false;
    },
    clear() {
      if (isLasting) close();
    },
  };
}

/** Returns a function that shows why the map may be out of date, and offers to try again; undefined hides it. */
export function createOfflineNotice(onRetry: () => void): (why: string | undefined) => void {
  const notice = byId('offline');
  const retry = button({ title: 'Try again now' }, onRetry);
  notice.append(retry);
  return (why) => {
    if (why !== undefined && why !== retry.textContent) retry.textContent = why;
    notice.hidden = why === undefined;
    document.body.classList.toggle('offline', why !== undefined);
  };
}
