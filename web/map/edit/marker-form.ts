import './marker-form.css';

import type { MarkerDetails } from '../api/documents.js';
import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { differences, type Fields } from './merge.js';
import { textFor, valueFrom } from './property-text.js';

export interface FormActions {
  readonly onSave: (mine: Fields) => void;
  readonly onCancel: () => void;
}

/** Changes made by someone else in the meantime, and how to resolve the conflict. */
export interface Conflict {
  readonly theirs: Fields;
  readonly onOverwrite: (mine: Fields) => void;
  readonly onDiscard: () => void;
}

/** A form for name, category and properties of a marker. */
export class MarkerForm {
  readonly form = element('form', { class: 'fields' });
  readonly #base: MarkerDetails;
  readonly #name;
  readonly #category;
  readonly #rows = element('div', { class: 'rows' });
  readonly #message = element('div', { role: 'alert' });
  readonly #buttons = element('div', { class: 'buttons' });
  readonly #before = new Map<HTMLElement, readonly [text: string, value: unknown]>();

  constructor(marker: MarkerDetails, { onSave, onCancel }: FormActions) {
    this.#base = marker;
    this.#name = element('input', { value: marker.name ?? '', maxlength: '200', autocomplete: 'off' });
    this.#category = element('input', { value: marker.category ?? '', maxlength: '200', autocomplete: 'off' });
    for (const [name, value] of Object.entries(marker.properties)) this.#addRow(name, value);
    const add = button({}, () => this.#addRow('', '').focus(), icon('plus'), 'Add property');
    const save = element('button', { class: 'act', type: 'submit' }, 'Save');
    this.#buttons.append(button({}, onCancel, 'Cancel'), save);
    this.form.append(
      element('h2', {}, `Edit ${marker.name ?? marker.key}`),
      element('label', {}, 'Name', this.#name),
      element('label', {}, 'Category', this.#category),
      element('h3', {}, 'Properties'),
      this.#rows,
      add,
      this.#message,
      this.#buttons,
    );
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#isValid()) onSave(this.#mine());
    });
  }

  focus(): void {
    this.#name.focus();
  }

  /** Shows that someone else has changed the marker, and their changes. */
  showConflict({ theirs, onOverwrite, onDiscard }: Conflict): void {
    const items = differences(this.#base, theirs).map((text) => element('li', {}, text));
    this.#message.replaceChildren(
      element('p', {}, 'Not saved: someone else changed this place in the meantime.'),
      element('ul', {}, ...items),
    );
    const overwrite = () => this.#isValid() && onOverwrite(this.#mine());
    this.#buttons.replaceChildren(
      button({}, onDiscard, 'Keep theirs'),
      button({ class: 'act' }, overwrite, 'Overwrite with mine'),
    );
  }

  /** Adds a row for a property; returns the input for its name. */
  #addRow(name: string, value: unknown): HTMLInputElement {
    const nameInput = element('input', { value: name, 'aria-label': 'Property', autocomplete: 'off' });
    const text = textFor(value);
    const label = name === '' ? 'Value' : `Value of ${name}`;
    const valueInput = element('input', { value: text, 'aria-label': label, autocomplete: 'off' });
    const remove = button({ class: 'icon', 'aria-label': `Remove ${name || 'property'}` }, () => row.remove(), icon('close')); // prettier-ignore
    const row = element('div', {}, nameInput, valueInput, remove);
    this.#before.set(row, [text, value]);
    this.#rows.append(row);
    return nameInput;
  }

  #entries(): (readonly [input: HTMLInputElement, name: string, value: unknown])[] {
    return [...this.#rows.children].flatMap((row) => {
      const [name, value] = row.querySelectorAll('input');
      if (!name || !value || !(row instanceof HTMLElement)) return [];
      const [text, before] = this.#before.get(row) ?? [];
      return [[name, name.value, value.value === text ? before : valueFrom(value.value)] as const];
    });
  }

  /** Reports a name used by two properties; returns whether there is none. */
  #isValid(): boolean {
    const entries = this.#entries();
    return entries.every(([input, name], index) => {
      const isTwice = entries.findIndex(([, other]) => other === name) < index;
      input.setCustomValidity(isTwice ? 'Another property has this name.' : '');
      return input.reportValidity();
    });
  }

  #mine(): Fields {
    const orNull = (text: string) => (text === '' ? null : text);
    const entries = this.#entries().map(([, name, value]) => [name, value] as const);
    return {
      name: orNull(this.#name.value.trim()),
      category: orNull(this.#category.value.trim()),
      properties: Object.fromEntries(entries),
    };
  }
}
