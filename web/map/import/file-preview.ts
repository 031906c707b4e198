import type { Collection } from '../api/documents.js';
import { button, element } from '../dom/element.js';
import { countOf } from '../text/numbers.js';
import { fitWithoutAnimation } from '../view/fly.js';
import { columnsForm, type ColumnsForm } from './columns-form.js';
import { optionsOf, readColumns, type Columns } from './columns.js';
import { copyCommand } from './copy-command.js';
import { messageOf } from './failure-text.js';
import { fault, note, type Frame } from './frame.js';
import { runImport } from './import-run.js';
import { previewPoints } from './preview-points.js';
import { previewTable } from './preview-table.js';
import { rejectsList } from './rejects-list.js';
import { surveyFile, type Survey } from './survey.js';
import { keyFor, targetFields } from './target-fields.js';

/** Maximum file size in bytes. Larger files are for the command line: the page would have to stay open too long. */
const LARGEST_FILE = 50_000_000;

export interface PreviewOptions {
  readonly collections: () => readonly Collection[];
  /** Called when a collection has been created. */
  readonly onCreate: (collection: Collection) => void;
  /** Called when markers of a collection have been written. */
  readonly onWrite: (key: string) => void;
}

const percent = (part: number) => `${Math.floor(100 * Math.min(1, part))}%`;
const commandFor = (file: File, options = '') =>
  copyCommand(`npx cellport import ${file.name} --collection ${keyFor(file)}${options}`);

/** Shows a file's content with the detected or chosen columns, and offers to import it. */
class FilePreview {
  readonly #frame: Frame;
  readonly #file: File;
  readonly #options: PreviewOptions;
  readonly #columns: Columns | undefined;
  readonly #choice: ColumnsForm | undefined;
  readonly #target;
  readonly #form: HTMLFormElement;
  readonly #submit = element('button', { class: 'act', type: 'submit' });
  /** The number of places, or the error. */
  readonly #report = element('div');
  readonly #rows = element('div');
  #survey: Survey | undefined;
  #signal: AbortSignal | undefined;

  constructor(frame: Frame, file: File, columns: Columns | undefined, options: PreviewOptions) {
    this.#frame = frame;
    this.#file = file;
    this.#options = options;
    this.#columns = columns;
    this.#choice = columns && columnsForm(columns, () => void this.#read());
    this.#target = targetFields(file, options.collections());
    const buttons = element('div', { class: 'buttons' }, button({}, frame.hide, 'Cancel'), this.#submit);
    this.#form = element('form', {}, ...this.#target.elements, buttons);
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#import();
    });
  }

  async open(): Promise<void> {
    const choice = this.#choice ? [this.#choice.element] : [];
    this.#form.hidden = true;
    this.#frame.show(this.#file.name, this.#report, ...choice, this.#rows, this.#form);
    await this.#read();
    if (!this.#form.hidden) this.#submit.focus();
    else if (this.#columns?.holdPosition) this.#choice?.ask();
  }

  get #readOptions() {
    return this.#columns && this.#choice ? optionsOf(this.#columns, this.#choice.choice) : {};
  }

  /** Reads the file with the current columns. The previous content stays until it is replaced. */
  async #read(): Promise<void> {
    const signal = this.#frame.begin();
    this.#signal = signal;
    this.#submit.disabled = true;
    const missing = this.#choice?.missing;
    if (missing !== undefined) return this.#fail(`Also choose the ${missing}.`);
    const reading = note('Reading …');
    this.#report.replaceChildren(reading);
    try {
      const onRead = (part: number) => (reading.textContent = `Reading … ${percent(part)}`);
      const survey = await surveyFile(this.#file, this.#readOptions, { signal, onRead });
      if (!signal.aborted) this.#show(survey);
    } catch (error) {
      if (!signal.aborted) this.#fail(messageOf(error));
    }
  }

  #fail(message: string): void {
    this.#report.replaceChildren(fault(message));
    this.#rows.replaceChildren();
    this.#form.hidden = true;
  }

  #show(survey: Survey): void {
    const { count, rejects, bounds, points, notes, hasZones } = survey;
    const list = rejectsList(this.#file, rejects);
    this.#survey = survey;
    this.#form.hidden = bounds === undefined;
    const zones = hasZones
      ? [note('Import areas and lines on the command line of the server:'), commandFor(this.#file, ' --zones')]
      : [];
    if (bounds === undefined) {
      const text = rejects.count > 0 ? 'This file contains no valid places.' : 'This file is empty.';
      this.#report.replaceChildren(fault(text), ...zones);
      this.#rows.replaceChildren(...list);
      return;
    }
    this.#report.replaceChildren(
      note(`${countOf(count, 'place')} found. Importing the same file again changes nothing.`),
      ...notes.map((text) => note(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`)),
      ...zones,
    );
    this.#rows.replaceChildren(previewTable(survey), ...list);
    this.#submit.textContent = `Import ${countOf(count, 'place')}`;
    this.#submit.disabled = false;
    previewPoints(this.#frame.map, points);
    fitWithoutAnimation(this.#frame.map, bounds, this.#frame.place);
  }

  async #import(): Promise<void> {
    const [survey, signal] = [this.#survey, this.#signal];
    if (!survey || !signal) return;
    this.#submit.disabled = true;
    let collection: string;
    try {
      collection = await this.#target.open(this.#options.onCreate);
    } catch (error) {
      this.#submit.disabled = false;
      this.#form.querySelector('.fault')?.remove();
      return this.#form.prepend(fault(messageOf(error)));
    }
    const { onWrite } = this.#options;
    const onRetry = () => void this.open();
    const options = this.#readOptions;
    await runImport(this.#frame, { file: this.#file, options, survey, collection, signal, onWrite, onRetry });
  }
}

/** Shows a file's content in an open frame, and offers to import it. */
export async function previewFile(
  frame: Frame,
  file: File,
  options: PreviewOptions,
  signal: AbortSignal,
): Promise<void> {
  if (file.size > LARGEST_FILE) {
    const text = `The page reads files of up to ${LARGEST_FILE / 1e6} MB. Import this one on the command line of the server:`;
    return frame.show(file.name, fault(text), commandFor(file));
  }
  try {
    const columns = await readColumns(file);
    if (!signal.aborted) await new FilePreview(frame, file, columns, options).open();
  } catch (error) {
    if (!signal.aborted) frame.show(file.name, fault(messageOf(error)));
  }
}
