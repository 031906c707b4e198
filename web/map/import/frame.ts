import './import.css';

import type { Map as MapLibre } from 'maplibre-gl';

import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import { previewPoints } from './preview-points.js';

export interface FrameOptions {
  readonly map: MapLibre;
  readonly place: HTMLElement;
  readonly onClose: () => void;
}

/** The panel of an import, and the import's work, which may continue in the background. */
export class Frame {
  readonly map: MapLibre;
  readonly place: HTMLElement;
  /** An import that is being written continues while the panel is hidden. */
  isWriting = false;
  readonly #onClose: () => void;
  #work = new AbortController();

  constructor({ map, place, onClose }: FrameOptions) {
    this.map = map;
    this.place = place;
    this.#onClose = onClose;
  }

  show(title: string, ...content: readonly Node[]): void {
    const close = button({ class: 'icon', 'aria-label': 'Close' }, this.hide, icon('close'));
    this.place.replaceChildren(element('header', {}, element('h2', {}, title), close), ...content);
    this.place.hidden = false;
  }

  readonly hide = (): void => {
    this.place.hidden = true;
    if (!this.isWriting) this.begin();
    this.#onClose();
  };

  /** Aborts the current work and clears the preview. Returns the signal for the next work. */
  begin(): AbortSignal {
    this.cancel();
    this.#work = new AbortController();
    previewPoints(this.map, []);
    return this.#work.signal;
  }

  cancel(): void {
    this.#work.abort();
  }
}

export const note = (text: string): HTMLElement => element('p', { role: 'status' }, text);
export const fault = (text: string): HTMLElement => element('p', { role: 'alert', class: 'fault' }, text);
