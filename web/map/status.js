import { button, byId, element } from './element.js';
import { icon } from './icons.js';
const STAYS_MS = 6000;
/** The quiet places where the page says what it does and what went wrong. */
export function createStatus() {
    const [progress, bar] = [byId('progress'), byId('bar')];
    let going;
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
            if (text === shown)
                return;
            clearTimeout(going);
            shown = text;
            lasting = remedy !== undefined;
            const act = remedy && button({ class: 'act' }, () => (close(), remedy.act()), remedy.label);
            const away = button({ class: 'icon', 'aria-label': 'Close message' }, close, icon('close'));
            bar.replaceChildren(element('p', {}, text), ...(act ? [act] : []), away);
            bar.hidden = false;
            if (!remedy)
                going = setTimeout(close, STAYS_MS);
        },
        clear() {
            if (lasting)
                close();
        },
    };
}
