import { button, element } from '../dom/element.js';
import { collectionFields, createCollection, refusal } from './collection-fields.js';
import type { PreviewOptions } from './file-preview.js';
import { fault, Frame, note, type FrameOptions } from './frame.js';

export interface ImportOptions extends FrameOptions, PreviewOptions {}

/** The panel's actions. */
export interface ImportPanel {
  /** Shows what is in a file and offers to import it. */
  readFile(file: File): void;
  /** Asks for the name of a new collection. */
  newCollection(): void;
  /** Hides the panel; a running import continues. */
  close(): void;
}

/** The panel that imports files and creates collections. */
export function createImportPanel(options: ImportOptions): ImportPanel {
  const { place, onCreate } = options;
  const frame = new Frame(options);

  /** The code that reads files is loaded with the first one; the panel is open by then. */
  async function preview(file: File): Promise<void> {
    const signal = frame.begin();
    frame.show(file.name, note('Reading …'));
    place.focus();
    try {
      const { previewFile } = await import('./file-preview.js');
      if (!signal.aborted) await previewFile(frame, file, options, signal);
    } catch {
      if (!signal.aborted) frame.show(file.name, fault('Could not load this part of the page. Reload the page.'));
    }
  }

  function readFile(file: File): void {
    if (frame.isWriting) place.hidden = false;
    else void preview(file);
  }

  function newCollection(): void {
    if (frame.isWriting) return void (place.hidden = false);
    frame.begin();
    const fields = collectionFields('');
    const submit = element('button', { class: 'act', type: 'submit' }, 'Create');
    const buttons = element('div', { class: 'buttons' }, button({}, frame.hide, 'Cancel'), submit);
    const form = element('form', {}, ...fields.elements, buttons);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      submit.disabled = true;
      createCollection(fields.value).then(
        (made) => {
          frame.hide();
          onCreate(made);
        },
        (error: unknown) => {
          submit.disabled = false;
          form.querySelector('.fault')?.remove();
          form.prepend(fault(refusal(error)));
        },
      );
    });
    frame.show('New collection', form);
    fields.name.focus();
  }

  return { readFile, newCollection, close: frame.hide };
}
