import { button, byId, element } from './element.js';
import { icon } from './icons.js';

/** What can be done about a message, by its label. */
export interface Remedy {
  readonly label: string;
  readonly act: () => void;
}

const STAYS_MS = 6_000;

export interface Status {
  /** The thin line on top: whether something is on its way. */
  loading(on: boolean): void;
  /** Says something in the bar. What has a remedy stays until it is taken or closed, else it goes by itself. */
  say(text: string, remedy?: Remedy): void;
  /** Takes back a message with a remedy: it is not needed any more. */
  clear(): void;
}

/** The quiet places where the page says what it does and what went wrong. */
export function createStatus(): Status {
  const [progress, bar] = [byId('progress'), byId('bar')];
  let going: ReturnType<typeof setTimeout> | undefined;
  let shown = '';
  let lasting = false;
  const close = () => {
    clearTimeout(going);
    bar.hidden = true;
    shown = '';
    lasting = false;
  };
  return {
    loading: (on) => void progress.classList.toggle('on', on),
    say(text, remedy) {
      if (text === shown) return;
      clearTimeout(going);
      shown = text;
      lasting = remedy !== undefined;
      const act = remedy && button({ class: 'act' }, () => (close(), remedy.act()), remedy.label);
      const away = button({ class: 'icon', 'aria-label': 'Close message' }, close, icon('close'));
      bar.replaceChildren(element('p', {}, text), ...(act ? [act] : []), away);
      bar.hidden = false;
      if (!remedy) going = setTimeout(close, STAYS_MS);
    },
    clear() {
      if (lasting) close();
    },
  };
}
