import './filter.css';

import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { COLORS } from '../rules/look.js';
import { NO_RULES, type Condition, type Range, type Rules } from '../rules/rules.js';
import type { Seen } from '../view/seen.js';
import { checkboxes, fieldSelect, labelOf, rangeInputs } from './controls.js';
import { learnFields, type LearnedField, type NumberField } from './learn.js';

const isNumeric = (field: LearnedField): field is NumberField => 'least' in field;

export interface FilterOptions {
  readonly place: HTMLElement;
  readonly layers: () => readonly CollectionLayer[];
  /** Includes markers that a filter hides, so that their values remain available. */
  readonly seen: Seen;
  readonly onSet: (layer: CollectionLayer, rules: Rules) => void;
  readonly onClose: () => void;
}

const asRange = ({ field, least, greatest }: NumberField): Range => ({ field, from: least, to: greatest });
const asColor = (field: LearnedField): Condition =>
  isNumeric(field)
    ? asRange(field)
    : { field: field.field, values: field.values.slice(0, COLORS.light.length).map(([value]) => value) };

const NOTHING_LEARNED = 'Zoom in until individual places appear. Their properties become the filters.';

/** The panel for the filters, colors and sizes of one collection at a time. */
export class FilterPanel {
  readonly #options: FilterOptions;
  #key: string | undefined;
  #drawn = '';
  /** The control that was used last. */
  #usedKey: string | undefined;

  constructor(options: FilterOptions) {
    this.#options = options;
  }

  /** Redraws what has changed, without disturbing a control that is in use. */
  update(): void {
    const { place } = this.#options;
    if (place.hidden) return;
    const layer = this.#layer();
    const fields = layer ? learnFields(this.#options.seen.of(layer)) : [];
    const state = JSON.stringify([layer?.collection.key, layer?.rules, this.#choices().length, fields]);
    if (state === this.#drawn) return;
    const active = place.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    const key = active?.dataset['key'];
    // The user is still typing.
    if (active instanceof HTMLInputElement && active.type === 'number' && key !== this.#usedKey) return;
    this.#drawn = state;
    const at = place.scrollTop;
    place.replaceChildren(...this.#content(layer, fields));
    place.scrollTop = at;
    if (key !== undefined) [...place.querySelectorAll<HTMLElement>('[data-key]')].find((each) => each.dataset['key'] === key)?.focus(); // prettier-ignore
  }

  /** Layers that are on and show places. */
  #choices(): readonly CollectionLayer[] {
    return this.#options.layers().filter(({ drawn, collection }) => drawn !== 'off' && collection.count > 0);
  }

  #layer(): CollectionLayer | undefined {
    const layers = this.#choices();
    return layers.find(({ collection }) => collection.key === this.#key) ?? layers[0];
  }

  #content(layer: CollectionLayer | undefined, fields: readonly LearnedField[]): HTMLElement[] {
    const close = button({ class: 'icon', 'aria-label': 'Close', 'data-key': 'close' }, this.#options.onClose, icon('close')); // prettier-ignore
    const head = element('header', {}, element('h2', {}, 'Filter and color'), close);
    if (!layer) return [head, element('p', {}, 'Turn on a layer that has places.')];
    const { rules } = layer;
    const set = (next: Rules) => {
      this.#usedKey = (document.activeElement as HTMLElement | null)?.dataset['key'];
      this.#options.onSet(layer, next);
      this.update();
      this.#usedKey = undefined;
    };
    const sections = fields.map((field) => {
      const content = isNumeric(field) ? [rangeInputs(field, rules, set)] : checkboxes(field, rules, set);
      return element('fieldset', {}, element('legend', {}, labelOf(field.field)), ...content);
    });
    const clear = button({ 'data-key': 'clear' }, () => set(NO_RULES), 'Clear all');
    clear.disabled = rules.conditions.length === 0 && !rules.color && !rules.size;
    return [
      head,
      this.#collectionSelect(layer),
      fieldSelect('Color by', fields, rules.color?.field, (field) => set({ ...rules, color: field && asColor(field) })), // prettier-ignore
      fieldSelect('Size by', fields.filter(isNumeric), rules.size?.field, (field) =>
        set({ ...rules, size: field && isNumeric(field) ? asRange(field) : undefined }),
      ),
      element('h3', {}, 'Show only'),
      ...(sections.length > 0 ? sections : [element('p', {}, NOTHING_LEARNED)]),
      element('div', { class: 'buttons' }, clear),
    ];
  }

  /** With a single collection there is nothing to choose. */
  #collectionSelect(layer: CollectionLayer): HTMLElement {
    const options = this.#choices().map(({ collection: { key, name } }) => element('option', { value: key }, name));
    if (options.length < 2) return element('p', {}, layer.collection.name);
    const select = element('select', { 'data-key': 'collection' }, ...options);
    select.value = layer.collection.key;
    select.addEventListener('change', () => {
      this.#key = select.value;
      this.update();
    });
    return element('label', { class: 'by' }, 'Layer', select);
  }
}
