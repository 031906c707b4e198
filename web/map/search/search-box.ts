import './search.css';

import { element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import type { Result, Results } from './results.js';

/** Each keystroke restarts this delay, so that several make one request. */
const WAIT_MS = 120;
/** The server refuses longer texts. */
const LONGEST_TEXT = 256;

export interface SearchBoxOptions {
  readonly place: HTMLElement;
  /** Never rejects; its result is ignored after an abort. */
  readonly find: (text: string, signal: AbortSignal) => Promise<Results>;
  /** Shows results on the map. */
  readonly onResults: (results: readonly Result[], active: number) => void;
}

/** The search box: a combobox with a list of results. */
export class SearchBox {
  readonly #options: SearchBoxOptions;
  readonly #input = element('input', {
    type: 'search',
    role: 'combobox',
    placeholder: 'Name, or 48.2, 16.37',
    'aria-label': 'Search for a name or coordinates',
    'aria-autocomplete': 'list',
    'aria-controls': 'found',
    'aria-expanded': 'false',
    maxlength: String(LONGEST_TEXT),
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly #list = element('ul', { id: 'found', role: 'listbox', 'aria-label': 'Results' });
  readonly #note = element('p', { role: 'status' });
  #results: readonly Result[] = [];
  #active = 0;
  #before: Element | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborts the search in progress, if there is one. */
  #searching: AbortController | undefined;
  /** Enter was pressed before the results arrived. */
  #goAtOnce = false;

  constructor(options: SearchBoxOptions) {
    this.#options = options;
    const { place } = options;
    place.replaceChildren(element('label', {}, icon('search'), this.#input), this.#list, this.#note);
    this.#input.addEventListener('input', () => this.#search());
    this.#input.addEventListener('keydown', (event) => this.#onKey(event));
    place.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && place.contains(relatedTarget))) this.#hide();
    });
    // Keeps the focus in the input while a result is clicked.
    this.#list.addEventListener('pointerdown', (event) => event.preventDefault());
  }

  /** Opens the box and focuses its input at once, so that it receives the next key. */
  open(): void {
    const { place } = this.#options;
    if (place.hidden) this.#before = document.activeElement;
    place.hidden = false;
    this.#search();
    this.#input.focus();
    this.#input.select();
  }

  #hide(): void {
    this.#stop();
    this.#options.place.hidden = true;
    this.#options.onResults([], 0);
  }

  #close(): void {
    // Before the next key: an element that is hidden keeps the focus until the browser draws, and the body takes none.
    this.#input.blur();
    if (this.#before instanceof HTMLElement) this.#before.focus();
    this.#hide();
  }

  #go(result: Result | undefined): void {
    if (result === undefined) return;
    this.#close();
    result.go();
  }

  #onKey(event: KeyboardEvent): void {
    const count = this.#results.length;
    const step = { ArrowDown: 1, ArrowUp: count - 1 }[event.key];
    // While a character is being composed, Enter ends the composition.
    if (event.isComposing) return;
    if (step !== undefined && count > 0) this.#setActive((this.#active + step) % count);
    else if (event.key === 'Enter' && this.#searching) this.#goAtOnce = true;
    else if (event.key === 'Enter') this.#go(this.#results[this.#active]);
    else if (event.key === 'Escape') this.#close();
    else return;
    event.preventDefault();
  }

  #setActive(index: number): void {
    this.#active = index;
    for (const [at, item] of [...this.#list.children].entries())
      item.setAttribute('aria-selected', String(at === index));
    this.#list.children[index]?.scrollIntoView({ block: 'nearest' });
    if (this.#results.length > 0) this.#input.setAttribute('aria-activedescendant', `found-${index}`);
    else this.#input.removeAttribute('aria-activedescendant');
    this.#options.onResults(this.#results, index);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#searching?.abort();
    this.#searching = undefined;
    this.#goAtOnce = false;
  }

  /** Searches for the typed text. Previous results stay until new ones arrive. */
  #search(): void {
    this.#stop();
    const searching = new AbortController();
    this.#searching = searching;
    this.#timer = setTimeout(() => void this.#find(searching), WAIT_MS);
  }

  async #find(searching: AbortController): Promise<void> {
    const found = await this.#options.find(this.#input.value.trim(), searching.signal);
    if (this.#searching !== searching) return;
    this.#searching = undefined;
    this.#show(found);
    if (this.#goAtOnce) this.#go(this.#results[0]);
  }

  #show({ results, note }: Results): void {
    this.#results = results;
    this.#list.replaceChildren(
      ...results.map(({ title, detail, go }, index) => {
        const attributes = { role: 'option', id: `found-${index}` };
        const item = element('li', attributes, element('span', {}, title), element('small', {}, detail));
        item.addEventListener('click', () => {
          this.#close();
          go();
        });
        return item;
      }),
    );
    this.#input.setAttribute('aria-expanded', String(results.length > 0));
    this.#note.textContent = note;
    this.#setActive(0);
  }
}
